// SPDX-License-Identifier: Apache-2.0
/// Drives a machine of its own line by line, JSON in, JSON out, for regression from any language;
/// or by one corner case.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "flitwise/config.h"
#include "scenario/scenario.h"
#include "scenario/verdict.h"

namespace flitwise {

/// Reads operations until the end of `in` and writes what they cause, then one line that the
/// operation is done; flushes after each (docs/script.md). Whatever is still under way at the end
/// is run to its end. Returns 0, or 2 where a line could not be understood. Throws SimulationError.
/// REQUIRES: inside the kernel, once a process.
int script_command(std::istream& in, std::ostream& out, const Config& config);

struct CaseOutcome {
  std::vector<scenario::Failure> failures;  ///< empty: passed
  std::vector<std::string> same_events;     ///< those that the patterns mean, times left out
  scenario::EventLog events;                ///< all of them, those of the final checks left out
};

/// REQUIRES: inside the kernel, once a process. A deadlock or broken invariant is an event
/// ("deadlock", "check") that the case may expect; where it does not, it is a failure.
CaseOutcome run_case(const scenario::Case& one,
                     const std::vector<scenario::EventPattern>& same_events, const Config& config);

}  // namespace flitwise
