// SPDX-License-Identifier: Apache-2.0
/// Parts that several keys of a case file are made of: maps of known keys, operations, patterns.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/document.h"
#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {

/// Complains of line breaks and other control characters: lists and verdicts give each case a line.
void check_one_line(const std::string& line, const config::Place& place, const Spot& spot);
/// Complains of a value that is neither true nor false.
void check_truth(const config::Value& value, const Spot& spot);
/// Complains of keys that are not known.
void check_keys(const config::Value& map, const Spot& spot, const std::vector<std::string>& known,
                const std::function<std::string(const std::string& key)>& hint = {});

/// The value of a key, if it is there and of that kind; null otherwise.
const config::Value* value_of(const config::Value& map, const std::string& key, const Spot& spot,
                              config::Value::Kind kind);

/// Reads each item of the list that a key has, if it is there.
void for_items(const config::Value& map, const std::string& key, const Spot& spot,
               const std::function<void(const config::Value& item, const Spot& spot)>& read);

/// The tree as JSON, all scalars as texts.
Json json_of(const config::Value& value);

/// What the script language says of an operation; nothing where it can be done.
std::vector<Problem> problems_of_operation(const Json& op, int line);

/// {verb: {fields}} or {verb: text} as the script's operation.
Json read_operation(const config::Value::Entry& verb, const Spot& spot);

/// What a step of a script waits for. Throws ConfigError with every problem, as of that line.
EventPattern awaited_event(const Json& fields, int line);

/// A pattern that stands alone, where `count`, `lag`, `capture` and `between` say nothing, but for
/// the one that is `allowed`.
EventPattern read_lone_pattern(const config::Value& value, const Spot& spot,
                               const std::string& allowed = "");
/// Complains of {same: name} where no capture can come before.
void refuse_references(const EventPattern& pattern, const Spot& spot);
/// Complains of names that are used before any expectation captures them, captured twice, or
/// captured and never used.
void check_captures(const Case& one, config::ProblemList& problems);

/// Reads `final` of a case, where it has one. Mistakes, and checks that cannot fail, go to
/// `problems`.
std::vector<FinalCheck> read_final_checks(const config::Value& document,
                                          config::ProblemList& problems);

using Parameters = std::map<std::string, std::string>;

/// One combination; its name makes the variant part of the case's id.
struct Variant {
  std::string name;  ///< empty where a file has no parameters
  Parameters values;
};

/// `matrix`: each key a list, all combinations; `variants`: a list of maps, with a `name` each or
/// named by their values. With both, each variant meets each combination.
std::vector<Variant> variants_of(const config::Value& document, config::ProblemList& problems);

/// Every parameter has to be used: cases that differ in nothing else are one case, many times.
void check_uses(const config::Value& document, config::ProblemList& problems);

/// Does ${name}, or a formula with it, stand anywhere in the tree?
bool is_used(const std::string& name, const config::Value& tree);

/// The document with the steps of each `repeat` of its stimulus so often as it says, and their
/// ${...} filled in. `rounds`: for each step the values of the `as` around it, such as "i = 3".
config::Value unrolled(const config::Value& document, const Parameters& values,
                       std::vector<std::string>& rounds, config::ProblemList& problems);

/// The tree with each ${name} and ${formula} filled in; formulas are + - * / over parameters that
/// are numbers.
config::Value filled(const config::Value& tree, const Parameters& values,
                     config::ProblemList& problems);

}  // namespace flitwise::scenario
