// SPDX-License-Identifier: Apache-2.0
/// Packet builder of an RDMA adapter: packets that go out. [VB-4, HP-5]
/// In: queue pairs that may send, in a circle, functions by their weights [HP-8]; their payload,
/// from commands or by DMA. Out: frames by the port. Queue: `fifo` packets whose payload is read,
/// as many that are built; payload has `dma_memory`. Latency: `build`, and a clock for each 64
/// bytes, which is the interval. The port blocks it, and a packet whose payload, or what it tells
/// of, has not gone its way. Out of service it makes no packets; of a function that is down none
/// leaves. [HP-4] [HP-9]
#pragma once

#include <boost/circular_buffer.hpp>

#include <map>
#include <optional>
#include <string>

#include "hca/function_turns.h"
#include "network/nic_port.h"
#include "rdma/hca_forger.h"
#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaPacketBuilder final : public HcaStage<HcaBuilt>, public HcaPackets {
 public:
  explicit HcaPacketBuilder(const HcaParts& parts)
      : HcaStage("packet_builder", "device.rdma.timing.build", parts.config.rdma.fifo,
                 parts.config.rdma.timing.build, parts.config.rdma.timing.clock),
        s_(parts),
        ready_(parts.config.function_count(), parts.pairs.weights()) {
    if (parts.config.rdma.hostile_frames > 0) {
      forger_.emplace(parts.config);
    }
  }

  void connect(NicPort& port, FramePool& frames) {
    port_ = &port;
    frames_ = &frames;
  }
  /// Its peer lets the port go on.
  void go_on(Time now) { ask_at(now); }
  void ready(std::uint32_t pair, Time now) override;
  void control_waits(Time now) override { ask_at(now); }
  void sessions_are_back(Time now) override;
  std::uint64_t forged() const { return forger_ ? forger_->frames() : 0; }  ///< frames

  bool run(Time now) override;
  void settle(Time now) override;
  void done(HcaJob& job, Time now) override;
  bool holds(std::uint32_t place) const override;
  bool is_quiet() const override {
    return HcaStage::is_quiet() && made_.empty() && !has_control() && parked_.empty() &&
           again_.empty() && (ready_.empty() || !s_.pairs.are_served());
  }
  void start_window(Time now) override;
  void add_errors(std::map<std::string, std::uint64_t>& errors) const override;
  void end_window(Time when) override { window_end_ = when; }
  void add_more_waits(const std::string& place, Time now,
                      std::vector<WaitResult>& all) const override;

 private:
  bool has_control() const { return s_.carriers != nullptr && s_.carriers->has_control(); }
  bool transmit(Time now);
  void transmit_control(Time now);
  bool send(HcaBuilt& built, Time now);
  bool next_packet(HcaBuilt& made, RdmaPacket& packet, Time now);
  void put_on_wire(Frame& frame, Time now);
  bool build(Time now);
  bool make(Time now);
  void make_frame_of(const RdmaPacket& packet, unsigned peer, HcaBuilt& made);
  void read_payload(const RdmaPacket& packet, HcaBuilt& made, Time now);

  const HcaParts& s_;
  NicPort* port_ = nullptr;
  FramePool* frames_ = nullptr;
  FunctionTurns ready_;                       // queue pairs that may have a packet
  boost::circular_buffer<HcaBuilt> made_{4};  // packets whose payload is read; grows
  std::uint64_t first_made_ = 0;              // number of made_.front()
  // That found no session when it was their turn: they wait for one, or have their turn again.
  std::deque<HcaBuilt> parked_, again_;
  std::uint64_t memory_used_ = 0;
  std::optional<HcaForger> forger_;
  Time port_busy_{};
  Time window_begin_{}, window_end_ = Time::never();
  OpenWait memory_wait_, reads_wait_;
  WaitBook memory_waits_, reads_waits_;
};

}  // namespace flitwise
