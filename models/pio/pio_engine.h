// SPDX-License-Identifier: Apache-2.0
/// Send memory, launch, egress and credit returns of a device in time (docs/pio.md): posted writes
/// to the PIO window come in, packets leave by the network port, and credits return to host memory
/// by writes of 64 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/due_queue.h"
#include "common/wakeup.h"
#include "endpoint/engine.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "pio/egress_port.h"
#include "pio/pio_result.h"
#include "pio/send_engine.h"
#include "stats/wait_book.h"

namespace flitwise {

/// Where the parts of a device that sends by PIO lie in BAR 0 of its PF. The window: [PIO-2.1].
/// model: the registers that force returns, eight bytes a context with ForceReturn in bit 0.
inline constexpr std::uint64_t kPioWindow = std::uint64_t{32} << 20;
inline constexpr std::uint64_t kPioForce = std::uint64_t{16} << 20;

struct PioEngineConfig {
  PioConfig pio;
  unsigned contexts = 1;          ///< 0..contexts-1 are set up; each belongs to the domain it names
  std::uint64_t return_base = 0;  ///< address of the returns of context 0
  std::uint64_t return_stride = 0;  ///< and from one context to the next
  bool checks_bytes = true;         ///< packets carry stamps

  /// Of a context in blocks.
  unsigned depth_of(unsigned context) const {
    return context < pio.deep_contexts ? pio.deep_depth : pio.depth;
  }
  /// Where software finds the returned counter of a context. [PIO-8.2]
  std::uint64_t shadow_of(unsigned context) const {
    const unsigned first = context / pio.group * pio.group;
    return return_base + first * return_stride + context % kContextsPerSet * kQwBytes;
  }
};

class PioEngine final : public ComponentModule, public Engine, private RegionOwner {
 public:
  /// device: whose row of results it is. work_appeared: next() is worth asking again.
  PioEngine(const sc_core::sc_module_name& name, std::string device, const PioEngineConfig& config,
            std::function<void()> work_appeared);

  /// Bytes that cores have written into the window, and their packets: for the checks.
  struct Sent {
    std::uint64_t packets = 0, bytes = 0;
  };
  void compare_with(std::function<Sent()> sent) { sent_ = std::move(sent); }
  /// Of a packet, and how many cores have written in the window.
  void set_route(RequestRoute route) { route_ = std::move(route); }
  const SendEngine& rules() const { return rules_; }
  /// The window has begun.
  bool is_counted() const { return counts_; }

  // Engine: credit returns.
  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override;
  void finished(const TransferEnd& end) override;
  void claim(BarMap& map) override;
  bool is_done() const override { return is_quiet(); }
  std::string waits_for() const override;

  // Component:
  bool is_quiet() const override;
  bool is_exhausted() const override { return true; }
  Time last_end() const override { return last_end_; }
  /// The port sends what it has.
  Time waits_until() const override {
    return port_.is_empty() ? Time{} : port_.drained(flitwise::now());
  }
  void add_progress(Progress& sum) const override {
    sum.completed += totals_.packets;
    sum.steps += totals_.posted_writes;
  }
  std::string waiting() const override;
  void start_window() override;
  void end_window() override { window_end_ = flitwise::now(); }
  void extend_window() override { window_end_ = Time::never(); }
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override;
  std::vector<CheckResult> checks() const override;
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  enum Region : unsigned { kWindow, kForce };
  static constexpr std::uint32_t kReturnSlots = 64;

  struct Arrival {
    std::uint32_t offset = 0, bytes = 0;
    bool is_force = false;  // a register, not the window
    std::array<std::uint8_t, kSendBlockBytes> data{};
  };
  using Return = std::array<std::uint64_t, kContextsPerSet>;  // as it stands in memory

  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override;
  void mmio_read(const MmioRead& read, BarAccess& access, Time now) override;
  void work();
  Time next_work(Time now) const;
  void send(Time now);
  void read_out(Time now);
  void arbitrate(Time now);
  void check_packet(const LaunchedPacket& packet, const Pbc& pbc);
  void note_returns(Time now);
  void count(const CreditReturn& one);
  bool has_launched() const { return rules_.launch_fifos().filled() != 0; }
  bool is_reading() const { return reading_ != kVlQueues; }
  std::uint64_t sum_of_contexts(std::uint64_t (SendContext::*counter)() const) const;

  const std::string device_;
  const PioEngineConfig config_;
  const std::function<void()> work_appeared_;
  std::function<Sent()> sent_;
  Wakeup wakeup_;
  SendEngine rules_;
  EgressPort port_;
  DueQueue<Arrival> arrivals_;
  unsigned reading_ = kVlQueues;  // queue whose packet is being read out of send memory
  Time read_end_{}, next_launch_{};
  std::array<Return, kReturnSlots> returns_{};  // by token: given to the shell
  std::vector<std::uint32_t> free_slots_;
  Time return_ready_ = Time::never();  // of the first return that waits
  std::array<std::uint64_t, kSendContexts * kVlQueues> next_number_{};  // of packets, at least

  RequestRoute route_;
  Time window_begin_{}, window_end_ = Time::never();
  bool counts_ = false;        // the window has begun
  PioResult totals_, before_;  // since the start of the run; at the begin of the window
  std::uint64_t returned_before_ = 0;
  std::uint64_t written_bytes_ = 0, window_reads_ = 0, disordered_ = 0, corrupted_ = 0;
  std::uint64_t cleared_blocks_ = 0;
  unsigned lanes_ = 0;  // by which packets have left in the window, a bit each
  Time last_end_{};
  Time lane_since_ = Time::never();  // packets are launched, and no lane has room
  WaitBook lane_waits_, port_waits_, return_waits_;
};

}  // namespace flitwise
