// SPDX-License-Identifier: Apache-2.0
/// Does what happened agree with what a case expects? Which rules do all cases prove?
#pragma once

#include <map>
#include <string>
#include <vector>

#include "flitwise/error.h"
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
/// `deadlock`, `missed_fault` and `missed_event` is a failure of its own unless an expectation
/// names such an event and means this one.
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
  bool is_error =
      false;  ///< a file that is wrong, so that its cases could not be run; `id` names it
};
/// JUnit XML, as CI systems read it.
std::string junit_xml(const std::vector<CaseReport>& reports);

/// Which rules of docs/rules the catalogue proves.
struct RuleCoverage {
  struct Rule {
    std::string id;                         ///< "LNK-7.13", "DHI D9", "DHI-06"
    bool waits = false;                     ///< stands in a table of what is not modelled yet
    std::map<std::string, unsigned> cases;  ///< stems of ids, and how many cases each gives
  };
  std::vector<Rule> rules;  ///< in the order of the pages
};

/// `pages`: texts of docs/rules/*.md. A rule is a list item that begins with its id; it waits where
/// a row under a heading "Not modelled" names it.
RuleCoverage coverage_of(const std::vector<std::string>& pages, const std::vector<Case>& cases);

/// Cites of a rule that no page states, though rules of its family (what stands before its first
/// digit) are there; other families are the user's own. One problem each, at the place of the case.
std::vector<Problem> unknown_cites(const RuleCoverage& coverage, const std::vector<Case>& cases);

/// Three lists with their counts: proved and by what, proved by no case, waiting for a model.
std::string coverage_text(const RuleCoverage& coverage);

}  // namespace flitwise::scenario
