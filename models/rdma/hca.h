// SPDX-License-Identifier: Apache-2.0
/// An RDMA adapter in time (docs/rdma.md): doorbells come in, work requests and payload are read
/// from host memory, packets go to the peer by the network port, and what comes from there goes to
/// host memory, and completions with it. The rules of QueuePair decide; the stages say when. Here
/// they are put together, and told when it is their turn: one process serves all of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/wakeup.h"
#include "rdma/hca_collect_buffer.h"
#include "rdma/hca_completion.h"
#include "rdma/hca_descriptor_fetch.h"
#include "rdma/hca_dma.h"
#include "rdma/hca_dma_validation.h"
#include "rdma/hca_packet_builder.h"
#include "rdma/hca_packet_receiver.h"
#include "rdma/hca_qp_fetch.h"
#include "rdma/hca_qp_states.h"
#include "rdma/hca_receive.h"
#include "rdma/hca_receive_entries.h"
#include "rdma/hca_sessions.h"
#include "rdma/hca_virtual_kick.h"

namespace flitwise {

class Hca final : public ComponentModule, private HcaControl {
 public:
  /// Who is told of what software has done to the adapter.
  struct Hooks {
    /// The function at that place was reset: nothing of its work goes on. [HP-4]
    std::function<void(std::uint32_t place)> went_down;
    /// Its queue pairs are in RTS again.
    std::function<void(std::uint32_t place, std::uint32_t epoch)> came_up;
    std::function<void(bool is_served)> service;  ///< [HP-9]
    /// The queue pair is in RTS, and its state is to be written into host memory.
    std::function<void(std::uint32_t pair)> connected;
    std::function<void(Time now)> all_connected;
  };
  /// device: whose row of results it is. work_appeared: its DMA has something to do.
  Hca(const sc_core::sc_module_name& name, std::string device, const HcaConfig& config,
      std::function<void()> work_appeared);

  void claim(BarMap& map) { collect_.claim(map); }  ///< the doorbell in BAR 0
  HcaDma& dma() { return dma_; }                    ///< for the shell of the device
  /// Before the simulation starts.
  void connect(Hooks hooks) { hooks_ = std::move(hooks); }
  /// Likewise, somebody who is told of payload of peers that is in host memory.
  using Placed = std::function<void(std::uint32_t pair, std::uint32_t bytes)>;
  void on_placed(Placed placed) { placed_ = std::move(placed); }
  /// The device resets a function, 0: all of them. [HP-4]
  void reset(unsigned function);
  /// Joins it to a cable. far: at the other end. Before the simulation starts.
  void connect(NicPort& port, FramePool& frames, const NicPort& far);
  /// All queue pairs go to RTS: at once, or with the handshakes of their session groups. [VB-3]
  void start();
  const std::vector<std::uint8_t>& state_in_memory(std::uint32_t pair) {
    return pairs_[pair].state_in_memory;
  }

  bool is_counted() const { return counts_; }
  void set_route(RequestRoute route) { route_ = std::move(route); }

  std::size_t held_frames() const { return receive_.held(); }  ///< in reorder buffers

  bool is_quiet() const override;
  void add_progress(Progress& sum) const override;
  std::string waiting() const override;
  Time waits_until() const override;
  void start_window() override;
  void end_window() override;
  void extend_window() override;
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override;
  std::vector<CheckResult> checks() const override;

 private:
  static constexpr std::size_t kStages = 12;
  /// Of stages_ that run: what is behind goes first, so that there is room for what is before.
  static constexpr std::array<std::size_t, 9> kOrder = {11, 10, 9, 8, 2, 7, 6, 0, 1};

  /// A function that is to be set up, as soon as nothing of it is under way.
  struct SetUp {
    std::uint32_t place = 0, epoch = 0;
    Time when = Time::never();  // never: something is
  };
  /// model: until all that a function has sent is in memory.
  static constexpr Time kSetUpTime = Time::from_us(10);

  void work();
  void run(Time now);
  bool command(const AdapterCommand& command, Time now) override;
  void placed(std::uint32_t pair, std::uint32_t bytes) override {
    if (placed_) {
      placed_(pair, bytes);
    }
  }
  void take_down(std::uint32_t place, Time now);
  void reset_sessions(std::uint32_t place, Time now);
  void set_up_due(Time now);
  FrameFaults::Counts faults() const {
    return port_ == nullptr ? FrameFaults::Counts{} : port_->faults();
  }

  const std::string device_;
  const HcaConfig config_;
  Wakeup wakeup_;
  HcaPairs pairs_;
  HcaResult totals_, before_;
  HcaPacketPool arrived_;
  HcaCommands commands_;
  HcaParts parts_;

  HcaCollectBuffer collect_;
  HcaVirtualKick kicks_;
  HcaQpFetch fetch_;
  HcaQpStates states_;
  HcaDescriptorFetch rings_;
  HcaDma dma_;
  HcaPacketBuilder builder_;
  HcaPacketReceiver receiver_;
  HcaReceive receive_;
  HcaReceiveEntries entries_;
  HcaDmaValidation validation_;
  HcaCompletion completion_;
  /// In the order of a work request and its answer.
  const std::array<HcaModule*, kStages> stages_;
  std::array<HcaTurn, kStages> turns_;   // of them, side by side: they are looked at often
  std::vector<HcaModule*> modules_;      // those, and sessions
  std::optional<HcaSessions> sessions_;  // none: plain RoCEv2

  NicPort* port_ = nullptr;
  const NicPort* far_ = nullptr;  // at the other end of its cable
  RequestRoute route_;
  Hooks hooks_;
  Placed placed_;
  std::vector<SetUp> set_ups_;
  Time window_begin_{}, window_end_ = Time::never();
  bool counts_ = false;
};

}  // namespace flitwise
