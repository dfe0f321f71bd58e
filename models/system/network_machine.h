// SPDX-License-Identifier: Apache-2.0
/// The machine of a configuration of mode packet: a network of hosts, without the PCIe side.
#pragma once

#include <memory>

#include "common/component.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "flitwise/run_progress.h"
#include "stats/progress_watch.h"

namespace flitwise {

class NetworkMachine {
 public:
  explicit NetworkMachine(const Config& config);

  /// Until all flows are over, or the user interrupts. Throws SimulationError where none gets on
  /// within run.deadlock_after.
  void run();
  bool is_cut_short() const { return is_cut_short_; }
  /// Some bytes have arrived.
  bool has_measured() const;
  RunResult result() const;
  void report_progress(ProgressReport report) { report_ = std::move(report); }

  const Config config;

 private:
  void look(ProgressWatch& watch);

  const std::unique_ptr<Component> network_;
  ProgressReport report_;
  bool is_cut_short_ = false;
};

}  // namespace flitwise
