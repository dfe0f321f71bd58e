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
#include "pio/credit_writer.h"
#include "pio/egress.h"
#include "pio/pio_config.h"
#include "pio/pio_result.h"
#include "pio/register_port.h"
#include "pio/sdma_unit.h"
#include "pio/send_engine.h"

namespace flitwise {

class PioEngine final : public ComponentModule, private RegionOwner {
 public:
  /// device: whose row of results it is. work_appeared: an engine has something to send.
  PioEngine(const sc_core::sc_module_name& name, std::string device, const PioEngineConfig& config,
            std::function<void()> work_appeared);

  /// Claims the window and the registers in BAR 0.
  void claim(BarMap& map);
  /// The workload begins.
  void start(Time now) { egress_.start(now); }
  /// Its packets go to the peer of that port. Before the simulation starts.
  void connect(NicPort& port, FramePool& frames, FrameSender::Peer peer);
  /// What it sends, for the shell of the device.
  Engine& returns() { return returns_; }
  Engine& sdma() { return sdma_; }

  /// Software has described a packet of so many blocks in the ring of an engine, which came then.
  /// The latency of packets that begin before the window is not measured.
  void sdma_begins(unsigned engine, unsigned blocks, Time when) {
    egress_.sdma_begins(engine, blocks, counts_ ? when : Time::never());
  }
  /// Software begins to write a packet into a context, from this slot on, or it has arrived then.
  void begins(unsigned context, unsigned slot, Time when) {
    egress_.begins(rules_.context(context).assembly().index_of(slot),
                   counts_ ? when : Time::never());
  }

  /// All cores together, for the checks.
  void compare_with(std::function<PioSent()> sent) { sent_ = std::move(sent); }
  /// Of a packet by PIO, and of one by SDMA.
  void set_route(RequestRoute route) { route_ = std::move(route); }
  void set_sdma_route(RequestRoute route) { sdma_route_ = std::move(route); }
  const SendEngine& rules() const { return rules_; }
  /// All functions of the device have been reset: its contexts are empty and disabled, its rings
  /// stand still, and what has come and has not been read out is lost. [PIO-9.9]
  void reset();
  /// Software sets up all rings anew; false: the device still has reads of before under way.
  bool restart_sdma();
  /// The window has begun.
  bool is_counted() const { return counts_; }

  bool is_quiet() const override {
    return arrivals_.empty() && registers_.is_quiet() && egress_.is_quiet() &&
           returns_.is_quiet() && sdma_.is_quiet() && rules_.next_source() == LaunchArbiter::kNone;
  }
  bool is_exhausted() const override { return true; }
  Time last_end() const override { return egress_.last_end(); }
  Time waits_until() const override { return egress_.drained(flitwise::now()); }
  void add_progress(Progress& sum) const override {
    sum.completed += egress_.counts().packets;
    sum.requests_over += left_packets() + lost_packets();
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
  enum Region : unsigned { kWindow, kRegisters, kTails };

  struct Arrival {
    std::uint32_t offset = 0, bytes = 0;
    Region region = kWindow;
    std::array<std::uint8_t, kSendBlockBytes> data{};
  };

  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override;
  bool is_told_early() const override { return true; }
  void mmio_read(const MmioRead& read, BarAccess& access, Time now) override;
  void work();
  void set_up_contexts();
  void take(const Arrival& arrival, Time now);
  PioResult totals() const;
  template <class Count>
  std::uint64_t sum_of_contexts(Count count) const;
  std::uint64_t returned() const;
  std::uint64_t free_and_returned() const;
  /// Without those of hostile processes.
  std::uint64_t left_packets() const;
  std::uint64_t lost_packets() const;
  std::uint64_t never_came() const;

  const std::string device_;
  const PioEngineConfig config_;
  std::function<PioSent()> sent_;
  Wakeup wakeup_;
  SendEngine rules_;
  Egress egress_;
  CreditWriter returns_;
  SdmaUnit sdma_;
  RegisterPort registers_;
  DueQueue<Arrival> arrivals_;

  std::uint64_t report_lanes(RunResult& result) const;
  void report_route(RunResult& result, const RequestRoute& route, std::uint64_t packets) const;

  RequestRoute route_, sdma_route_;
  Time window_begin_{}, window_end_ = Time::never();
  bool counts_ = false;        // the window has begun
  PioResult totals_, before_;  // since the start of the run; at the begin of the window
  std::uint64_t returned_before_ = 0;
  std::uint64_t written_bytes_ = 0, window_reads_ = 0, resets_ = 0;
};

}  // namespace flitwise
