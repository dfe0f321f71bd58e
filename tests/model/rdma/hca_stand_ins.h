// SPDX-License-Identifier: Apache-2.0
/// Stand-ins for the other stages of an RDMA adapter, and what stages share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rdma/hca_dma.h"
#include "rdma/hca_seams.h"

namespace flitwise::hca_stand_ins {

inline constexpr std::uint32_t kPairs = 4;
using Numbers = std::vector<std::uint32_t>;

inline HcaConfig config_of(unsigned fifo, unsigned states) {
  HcaConfig config;
  config.rdma.fifo = fifo;
  config.rdma.qpsc_entries = states;
  config.rdma.queue = 8;
  config.rdma.cq = 32;
  config.pairs = kPairs;
  config.geometry = {0x10000, config.rdma.queue, config.rdma.cq, config.rdma.cqe, 64};
  config.buffer_base = 0x100000;
  return config;
}

/// Stands for all stages, and notes what it is given.
class Others : public HcaKicks,
               public HcaFetches,
               public HcaStates,
               public HcaRings,
               public HcaReceives,
               public HcaPackets,
               public HcaOutcomes,
               public HcaPlaces,
               public HcaFrameMemory,
               public HcaControl {
 public:
  bool is_full = false, kicks_wait = false, frames_wait = false;
  Numbers fetched, received, posted, lost;
  std::vector<std::string> dropped;

  void kick(std::uint32_t /*pair*/, Time /*now*/) override {}
  bool has_kick(Time /*now*/) const override { return kicks_wait; }
  bool has_frame(Time /*now*/) const override { return frames_wait; }
  bool has_room() const override { return !is_full; }
  bool has_room_for_kick(Time /*now*/) const override { return !is_full; }
  bool has_room_for_frame(Time /*now*/) const override { return !is_full; }
  void fetch(HcaArrived work, Time /*now*/) override { fetched.push_back(work.pair); }
  void state_came(std::uint32_t /*pair*/) override {}
  void state_failed(std::uint32_t /*pair*/, Time /*now*/) override {}
  QpLookup::Outcome look_up(std::uint32_t /*pair*/, Time /*now*/) override { return {}; }
  void pin(std::uint32_t /*pair*/) override {}
  void release(std::uint32_t /*pair*/) override {}
  void kicked(std::uint32_t pair, Time /*now*/) override { posted.push_back(pair); }
  void read(std::uint32_t /*pair*/, bool /*is_receive*/, Time /*now*/) override {}
  void lose(std::uint32_t pair, bool /*is_receive*/) override { lost.push_back(pair); }
  void receive(HcaArrived packet, Time /*now*/) override { received.push_back(packet.pair); }
  bool is_in_atomic(std::uint32_t /*pair*/) const override { return false; }
  void drop_held(std::uint32_t /*pair*/) override {}
  void ready(std::uint32_t /*pair*/, Time /*now*/) override {}
  void control_waits(Time /*now*/) override {}
  void sessions_are_back(Time /*now*/) override {}
  void after_rules(std::uint32_t /*pair*/, Time /*now*/) override {}
  bool arm(std::uint32_t /*place*/, const CompletionArm& /*order*/, Time /*now*/) override {
    return true;
  }
  void place(HcaReceived /*piece*/, bool /*takes_entry*/, Time /*now*/) override {}
  void give_room(const Frame& /*frame*/) override {}
  void drop(const char* why, const Frame& /*frame*/) override { dropped.emplace_back(why); }
  bool command(const AdapterCommand& /*command*/, Time /*now*/) override { return true; }
  void placed(std::uint32_t /*pair*/, std::uint32_t /*bytes*/) override {}
};

/// What the stages share.
struct Bench {
  explicit Bench(unsigned fifo = 32, unsigned states = 128) : Bench(config_of(fifo, states)) {}
  explicit Bench(HcaConfig of) : config(std::move(of)) {}

  HcaConfig config;
  HcaPairs pairs{config};
  HcaCounters totals;
  HcaPacketPool arrived;
  HcaCommands commands{config.rdma.fifo};
  Others others;
  HcaDma dma{[] {}, [](Time) {}, pairs};

  HcaParts parts(HcaFetches& fetches, HcaStates& states, HcaOutcomes& outcomes) {
    return {config, pairs,  totals, arrived,  dma,    commands, others, fetches, states,
            others, others, others, outcomes, others, others,   others, others};
  }
  HcaParts parts() { return parts(others, others, others); }
  /// Reads and writes that may go by now, in their order.
  std::vector<Transfer> transfers(Time now) {
    std::vector<Transfer> all;
    for (Transfer one; dma.next(now, one);) {
      all.push_back(one);
    }
    return all;
  }
  void finish(const Transfer& transfer, Time now, TransferStatus status = TransferStatus::kDone) {
    dma.finished({transfer.token, transfer.op, status, now});
    dma.run(now);
  }
};

}  // namespace flitwise::hca_stand_ins
