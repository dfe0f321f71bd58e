// SPDX-License-Identifier: Apache-2.0
/// What a case says about one event: the fields it has to have, and when.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/document.h"
#include "flitwise/time.h"
#include "scenario/value_test.h"

namespace flitwise::scenario {

/// One event as a case expects it, or forbids it.
struct EventPattern {
  struct Field {
    std::string name;
    ValueTest test;
  };
  config::Place place;
  std::vector<Field> fields;
  Time from{};                     ///< not before, counted from the end of the set-up
  Time to = Time::never();         ///< not after
  Time least_lag{};                ///< since the event that was found for the expectation before
  Time most_lag = Time::never();   ///< likewise
  std::optional<ValueTest> count;  ///< how often, anywhere in the run; it keeps no order then

  /// Reads a map of fields; `within`, `after`, `before`, `lag` and `count` have the meaning above.
  static EventPattern read(const config::Value& value, const std::string& path,
                           config::ProblemList& problems);

  /// Of fields and the texts that stand for their values.
  static EventPattern of(const config::Place& place,
                         const std::vector<std::pair<std::string, std::string>>& fields);
  bool matches(const Json& event) const;
  /// ... and comes in time behind one that happened at `previous_ns`.
  bool matches(const Json& event, double previous_ns) const;
  /// Fields that hold, to find the event that was nearly the right one.
  std::size_t agreement(const Json& event) const;
  /// "wire type=Nak direction=down after 100 ns"
  std::string text() const;
};

}  // namespace flitwise::scenario
