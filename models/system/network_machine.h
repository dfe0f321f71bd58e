// SPDX-License-Identifier: Apache-2.0
/// The machine of a configuration of mode packet: a network of hosts, without the PCIe side.
#pragma once

#include "common/component_list.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "flitwise/run_progress.h"
#include "network/packet_network.h"
#include "stats/progress_watch.h"

namespace flitwise {

class NetworkMachine {
 public:
  explicit NetworkMachine(const Config& config);

  /// Until all flows are over, or the user interrupts. Throws SimulationError where none gets on
  /// within run.deadlock_after.
  void run();
  bool is_cut_short() const { return is_cut_short_; }
  bool has_measured() const { return network_.bytes_delivered() > 0; }
  RunResult result() const;
  void report_progress(ProgressReport report) { report_ = std::move(report); }

  const Config config;

 private:
  void look(ProgressWatch& watch);

  PacketNetwork network_;
  ProgressReport report_;
  bool is_cut_short_ = false;
};

}  // namespace flitwise
