// SPDX-License-Identifier: Apache-2.0
/// One corner case as data: a machine, what is done to it, and what has to come of it.
/// docs/cases.md describes the files.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/problems.h"
#include "flitwise/time.h"
#include "scenario/event_pattern.h"

namespace flitwise {
struct Config;
}  // namespace flitwise

namespace flitwise::scenario {

/// One operation of the script language (docs/script.md), and when.
struct Step {
  config::Place place;
  std::optional<Time>
      at;  ///< counted from the end of the set-up; absent: when the last one is done
  Json op;
  std::string round = {};  ///< of the `repeat` around it: "i = 3"; empty where none has an `as`
};

/// Patterns that are found one after the other, or in any order where there are several.
struct Expectation {
  std::vector<EventPattern> any_order;
};

/// One figure at the end of the run.
struct FinalCheck {
  config::Place place;
  Json op;                ///< the operation that asks for it
  EventPattern expected;  ///< the event that answers
};

struct Case {
  std::string id;    ///< RULE-ID or RULE-ID/variant
  std::string stem;  ///< the id as it stands in the file, without what parameters add
  std::string title;
  std::vector<std::string> cites;
  std::string file;
  std::shared_ptr<const std::string> only_text;  ///< of the file, where it can be read but once
  config::Place place;
  std::string base;               ///< config file; empty: the machine of `flitwise script`
  std::vector<std::string> sets;  ///< "link.mps=128B"
  std::map<std::string, config::Place> set_places;  ///< where each of them stands, of a file
  bool boots = true;  ///< host software brings the machine up over the link
  std::vector<Step> steps;
  std::vector<Expectation> expect;
  std::vector<EventPattern> never;
  std::vector<FinalCheck> final_checks;
  std::string same_as;                    ///< id of another case of the file
  std::vector<EventPattern> same_events;  ///< which events have to be the same there, times apart
};

/// Final checks that no run of this machine can answer: counters of links that it lacks, bytes
/// outside of its memory.
std::vector<Problem> final_problems(const Case& one, const Config& config);

/// Reads the cases of one file, parameters filled in: one file may hold many sizes of one rule.
/// Throws ConfigError with every problem as file:line:col.
std::vector<Case> read_cases(const std::string& file);
/// The same for a text; `name` stands for the file.
std::vector<Case> cases_from_text(const std::string& yaml, const std::string& name);

/// The cases of several files, and what is wrong with files whose cases are left out.
struct Catalogue {
  std::vector<Case> cases;
  std::vector<Problem> problems;
  std::vector<std::string> dead_links;  ///< in folders; they lead to no file

  /// Adds problems, and leaves out all cases of the files that have them.
  void set_aside(const std::vector<Problem>& found);
};

/// All cases of the files, and of the *.yaml in folders and below, in the order of their paths. Two
/// cases with one id are a problem of the later one. Throws ConfigError for a folder that cannot be
/// read through.
Catalogue find_cases(const std::vector<std::string>& paths);

/// A case file that reads back as the same case. REQUIRES: patterns are made of plain values.
std::string yaml_of(const Case& one);

}  // namespace flitwise::scenario
