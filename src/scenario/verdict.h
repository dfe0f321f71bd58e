// SPDX-License-Identifier: Apache-2.0
/// Does what happened agree with what a case expects?
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace flitwise::scenario {

/// Everything that happened, in order; each event has `event` and `t_ns`.
using EventLog = std::vector<Json>;

/// One thing that is not as expected.
struct Failure {
  config::Place place;              ///< of the expectation
  std::string expected;             ///< in the words of the case
  std::string seen;                 ///< what came nearest, or nothing
  std::vector<std::string> around;  ///< the events around it, a line each
};

/// Judges the events of a run. Each `violation` of a protocol rule, `check` that does not hold,
/// `deadlock` and `missed_fault` is a failure of its own unless an expectation names such an event
/// and means this one.
std::vector<Failure> judge(const Case& one, const EventLog& log);

/// Judges the answer to one final check.
std::vector<Failure> judge_final(const FinalCheck& check, const EventLog& answer);

/// One event as one line: "120 ns  wire up MWr sequence=3 address=0x1000".
std::string line_of(const Json& event);

/// What came of one case.
struct CaseReport {
  std::string id;
  std::string title;
  double seconds = 0;
  std::string failure;  ///< text for a person; empty where the case passed
};
/// JUnit XML, as CI systems read it.
std::string junit_xml(const std::vector<CaseReport>& reports);

}  // namespace flitwise::scenario
