// SPDX-License-Identifier: Apache-2.0
/// One corner case in a process of its own: the child that runs it, and the parent that reads the
/// outcome.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace flitwise::cli {

inline constexpr unsigned kCaseSeconds = 60;  ///< that a case may take

/// Runs the case in this process and prints its outcome as JSON, with the events that `same_events`
/// means. Returns the exit code. After `seconds` it is ended by SIGALRM.
int run_as_child(const scenario::Case& one, const std::vector<scenario::EventPattern>& same_events,
                 unsigned seconds);

/// Throws ConfigError with what is wrong with the configurations of the cases, at the settings that
/// are to blame, or else at the places of the cases.
void check_configs(const std::vector<scenario::Case>& cases);

/// Runs the case in a child process; what is wrong with it as text for a person, or nothing. A
/// child that crashes, or takes longer than so many seconds, is a failure like any other.
std::string failure_of(const scenario::Case& one, unsigned seconds = kCaseSeconds);

}  // namespace flitwise::cli
