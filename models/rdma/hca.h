// SPDX-License-Identifier: Apache-2.0
/// An RDMA adapter in time (docs/rdma.md): doorbells come in, work requests and payload are read
/// from host memory, packets go to the peer by the network port, and what comes from there goes to
/// host memory, and completions with it. The rules of QueuePair decide; here is when.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/wakeup.h"
#include "endpoint/bar_access.h"
#include "hca/qp_state_cache.h"
#include "network/nic_port.h"
#include "rdma/hca_config.h"
#include "rdma/hca_dma.h"
#include "rdma/hca_parts.h"
#include "rdma/hca_result.h"
#include "rdma/hca_stage.h"
#include "rdma/ring_entries.h"

namespace flitwise {

class Hca final : public ComponentModule, private RegionOwner {
 public:
  /// device: whose row of results it is. work_appeared: its DMA has something to do.
  Hca(const sc_core::sc_module_name& name, std::string device, const HcaConfig& config,
      std::function<void()> work_appeared);

  void claim(BarMap& map);        ///< the doorbell in BAR 0
  HcaDma& dma() { return dma_; }  ///< for the shell of the device
  /// Joins it to the cable. peer: of frames that it has sent. Before the simulation starts.
  void connect(NicPort& port, FramePool& frames, const Hca& peer);
  /// All queue pairs go to RTS: management of connections is not modelled. Software writes their
  /// states into host memory.
  void start();
  const std::vector<std::uint8_t>& state_in_memory(std::uint32_t pair) const {
    return pairs_[pair].state_in_memory;
  }

  std::uint64_t frames_sent() const { return port_ == nullptr ? 0 : port_->sent(); }
  bool is_counted() const { return counts_; }
  void set_route(RequestRoute route) { route_ = std::move(route); }

  bool is_quiet() const override;
  void add_progress(Progress& sum) const override;
  std::string waiting() const override;
  void start_window() override;
  void end_window() override { window_end_ = flitwise::now(); }
  void extend_window() override { window_end_ = Time::never(); }
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override;
  std::vector<CheckResult> checks() const override;

 private:
  using Pair = HcaPair;
  using Arrived = HcaArrived;
  // hca.cpp: doorbells, kicks, states of queue pairs, rings
  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override;
  bool is_told_early() const override { return true; }
  void mmio_read(const MmioRead& read, BarAccess& access, Time now) override;
  void work();
  bool step(Time now);
  bool take_doorbell(Time now);
  void take_posted(const HcaPosted& posted, Time now);
  void kick(std::uint32_t pair, Time now);
  bool fetch(Time now);
  bool dispatch(Time now);
  void read_ring(std::uint32_t pair, bool is_receive, Time now);
  void take_commands(Pair& pair);
  void post(const HcaDma::Job& job, Time now);
  void post_entry(Pair& pair, bool is_receive, const std::uint8_t* entry);
  void write_state_back(std::uint32_t pair, Time now);
  void state_came(const HcaDma::Job& job, Time now);
  void take_done(Time now);
  // Of its state: work begins, where other work has pinned it; work is done.
  void pin(std::uint32_t pair) { states_.pin_again(pairs_[pair].entry); }
  void release(std::uint32_t pair);
  // hca_send.cpp: packets, timers, completions
  void ready(std::uint32_t pair);
  bool make_packet(Time now);
  void payload_came(const HcaDma::Job& job, Time now);
  bool build(Time now);
  bool transmit(Time now);
  void after_rules(std::uint32_t pair, Time now);
  bool run_timer(Time now);
  bool complete(Time now);
  // hca_receive.cpp: frames
  bool take_frame(Time now);
  bool check(Time now);
  bool receive(Time now);
  void place(Arrived& arrived, const RdmaEffect& effect, Time now);
  bool validate(Time now);
  void placed(HcaDma::Job& job);
  void finish_atomic(const HcaDma::Job& job, Time now);
  void drop(const char* why, const Frame& frame);
  std::uint64_t static_accesses() const;
  std::uint64_t sum_of_pairs(QpCounter counter) const;
  void give_room(const Frame& frame) { ram_used_ -= frame.wire_bytes; }

  const std::string device_;
  const HcaConfig config_;
  Wakeup wakeup_;
  MemoryKeys keys_;
  CompletionQueue sends_, receives_;
  std::deque<Pair> pairs_;  // stay where they are
  QpStateCache states_;
  HcaDma dma_;
  NicPort* port_ = nullptr;
  FramePool* frames_ = nullptr;
  const Hca* peer_ = nullptr;

  HcaCommands commands_;
  HcaStage<HcaPosted> collect_;
  HcaStage<std::uint32_t> kicks_;
  HcaStage<Arrived> fetch_;
  std::deque<Arrived> fetched_, unfetched_;  // with their state, and without
  std::deque<std::uint32_t> ready_;          // queue pairs that may have a packet, in turn
  std::deque<HcaBuilt> made_;                // packets whose payload is read
  std::uint64_t first_made_ = 0;             // number of made_.front()
  HcaStage<HcaBuilt> build_;
  DueQueue<FrameRef> arriving_;
  HcaStage<Arrived> check_, receive_;
  HcaStage<HcaReceived> entry_, validate_;
  HcaStage<HcaTold> complete_;
  DueQueue<HcaTimer> timers_;
  std::optional<Arrived> atomic_;               // that is carried out
  std::array<std::uint64_t, 2> completions_{};  // so far, of sends and of receives

  std::uint64_t dma_memory_used_ = 0, ram_used_ = 0, peak_ram_ = 0;
  Time port_free_{}, port_busy_{};
  OpenWait memory_wait_, pinned_wait_;
  WaitBook memory_waits_, pinned_waits_;
  RequestRoute route_;
  HcaResult totals_, before_;
  std::map<std::string, std::uint64_t> drops_;
  std::uint64_t bad_entries_ = 0, bad_doorbells_ = 0, wrong_states_ = 0;
  Time window_begin_{}, window_end_ = Time::never();
  bool counts_ = false;
};

}  // namespace flitwise
