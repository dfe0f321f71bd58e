// SPDX-License-Identifier: Apache-2.0
/// Conditions over keys: when a run reads another key. They are data, so that messages, schema and
/// documentation can say them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "flitwise/config.h"

namespace flitwise::config {

/// Whether a key has one of some values; negated: none of them.
struct KeyTest {
  std::string path;                 ///< of the other key
  std::vector<std::string> values;  ///< canonical spellings; "gen6*": all that begin so
  bool is_negated = false;

  bool holds(const Config& config) const;
  std::string text() const;                      ///< "workload.arrival is poisson or cbr"
  std::string seen(const Config& config) const;  ///< "workload.arrival is closed_loop"
};

/// Whether any part of the machine reads a key.
using IsRead = std::function<bool(const std::string& path)>;

/// Holds where all tests of one alternative do, and their keys are read; without alternatives:
/// always.
struct Condition {
  std::vector<std::vector<KeyTest>> alternatives;

  bool holds(const Config& config, const IsRead& is_read) const;
  /// "A is x and B is y, or C is z".
  std::string text() const;
  /// What is in the way where it does not hold: the tests that fail of the alternative that has
  /// fewest such.
  std::string obstacle(const Config& config, const IsRead& is_read) const;
  /// The same without tests of one key, which says nothing of when that key itself is read.
  Condition without(const std::string& path) const;
  /// A list of alternatives, each a list of {key, is: [VALUE]} or {key, is_not: [VALUE]}.
  nlohmann::ordered_json json() const;
};

Condition is(const std::string& path, const std::vector<std::string>& values);
Condition is_not(const std::string& path, const std::vector<std::string>& values);
/// Both leave out what another test or alternative says already, and alternatives that contradict
/// themselves.
Condition operator&&(const Condition& a, const Condition& b);
Condition operator||(const Condition& a, const Condition& b);

}  // namespace flitwise::config
