// SPDX-License-Identifier: Apache-2.0
/// What flitwise conform does: corner cases in processes of their own, and campaigns of random
/// ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::cli {

inline constexpr unsigned kCaseSeconds = 60;  ///< that a case may take

/// What the child that runs a case is asked for.
struct ChildTask {
  unsigned seconds = kCaseSeconds;  ///< it is ended by SIGALRM after them
  bool tells_events = false;        ///< all events of the case, besides those to compare
};

/// Runs the case in this process and prints its outcome as JSON, with the events that `same_events`
/// means. Returns the exit code.
int run_as_child(const scenario::Case& one, const std::vector<scenario::EventPattern>& same_events,
                 const ChildTask& task);

/// What is wrong with the configurations of the cases, at the settings that are to blame, or else
/// at the places of the cases.
std::vector<Problem> config_problems(const std::vector<scenario::Case>& cases);

struct CaseVerdict {
  std::string failure;              ///< what is wrong with it as text for a person; empty: passed
  std::vector<std::string> events;  ///< a JSON object each, where the task asks for them
};

/// Runs the case in a child process. A child that crashes, or takes too long, is a failure like any
/// other.
CaseVerdict verdict_of(const scenario::Case& one, const ChildTask& task = {});

/// --campaign: many seeds, and small cases for those that fail.
struct CampaignOptions {
  std::uint64_t seeds = 0;
  std::uint64_t first_seed = 1;
  std::vector<std::string> sets;
  std::string folder = "campaign";  ///< where the cases of failing seeds go
  unsigned jobs = 1;
};

/// Returns the exit code: 1 where a seed failed.
int run_campaign(const CampaignOptions& options);

}  // namespace flitwise::cli
