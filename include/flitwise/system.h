// SPDX-License-Identifier: Apache-2.0
/// The facade: an assembled machine made from a validated config. run, script, conform, tests and
/// library users share it. One System per process (the SystemC kernel cannot restart); must be made
/// inside sc_main, which flitwise/kernel.h has.
#pragma once

#include <memory>
#include <string>

#include "flitwise/attachments.h"
#include "flitwise/config.h"
#include "flitwise/observer.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"
#include "flitwise/run_progress.h"

namespace flitwise {

class System {
 public:
  /// Throws SimulationError where an attachment does not fit the configuration.
  explicit System(const Config& config, const Attachments& attached = {});
  /// With another host memory than the one that comes with the project: Attachments::memory.
  System(const Config& config, MemorySocket& memory);
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  /// Runs the configured workload to its end, then drains. Throws SimulationError on a deadlock or
  /// broken invariant. An interrupted run ends early; its result then has no checks, for they speak
  /// of a machine at rest.
  RunResult run();
  bool is_cut_short() const;
  /// A device had issued its first counted request before the run ended. If not, nothing was
  /// measured and all figures are empty.
  bool has_measured() const;

  /// From now on `report` is told how far the machine is, between events and many times a second;
  /// not by step(). It changes nothing of the run, and leaves the machine alone.
  void report_progress(ProgressReport report);

  /// Advances simulated time by `span`, or until nothing is left to do; returns the time reached.
  Time step(Time span);
  Time step_until_idle();

  /// A packet as if made by the device itself, straight into its transaction queues.
  void inject(const std::string& device, PacketRef packet);
  /// An attached engine has work again, which nobody else can know of.
  void wake(const std::string& device);
  /// Host memory, untimed: what software on the host sees.
  void poke(std::uint64_t address, const std::vector<std::uint8_t>& bytes);
  std::vector<std::uint8_t> peek(std::uint64_t address, std::size_t bytes) const;
  /// REQUIRES: called before anything runs.
  void observe(Observer observer);
  RunResult report() const;
  /// Configuration space of every function as it stands, after bring-up: what `lspci -xxxx` would
  /// print and `lspci -F` reads. Empty where the machine has none (the bit-packed carrier).
  std::string config_space();
  PacketPool& pool();

 private:
  struct Machine;
  struct Network;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Network> network_;  // in its place, where network.mode is packet
};

}  // namespace flitwise
