// SPDX-License-Identifier: Apache-2.0
/// Runs one corner case on a machine of its own.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"
#include "scenario/scenario.h"
#include "scenario/verdict.h"

namespace flitwise {

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
