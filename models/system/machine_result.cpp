// SPDX-License-Identifier: Apache-2.0
// The machine: what a run leaves behind.
#include "system/machine.h"

namespace flitwise {

RunResult Machine::result() const {
  if (packet_trace_) {
    packet_trace_->flush();
  }
  RunResult result;
  result.seed = config.run.seed;
  result.rows<LatencyResult>() = tracer_.results();
  measurement_.fill(result);
  for (const auto& host : hosts_) {
    host->fill(result);
  }
  for (const auto& [rule, count] : monitors_.warnings()) {
    result.errors["warning_" + rule] += count;
  }
  result.rows<AttackResult>() = attacks_.results();
  if (!is_cut_short_) {
    result.checks = checks();
  }
  result.violations = monitors_.violations();
  return result;
}

}  // namespace flitwise
