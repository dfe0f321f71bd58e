// SPDX-License-Identifier: Apache-2.0
/// What a case says about one event: the fields it has to have, their values, and when.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/time.h"
#include "scenario/value_test.h"

namespace flitwise::scenario {

/// A field of an event as a text, long payloads cut short. REQUIRES: the event has it.
std::string value_text(const Json& event, const std::string& field);

/// Values of events by the names that expectations give them.
using Captures = std::map<std::string, Json>;

/// One event as a case expects it, or forbids it.
struct EventPattern {
  struct Field {
    std::string name;
    ValueTest test;
    bool holds(const Json& event) const;
  };
  /// A field whose value gets a name, or is compared with what has the name.
  struct NamedField {
    std::string name, field;
    config::Place place;
    bool is_negated = false;
  };
  config::Place place;
  std::vector<Field> fields;
  std::vector<NamedField> captures;    ///< `capture: {name: field}`
  std::vector<NamedField> references;  ///< `field: {same: name}` and `field: {not: name}`
  std::vector<EventPattern> between;   ///< the first and the last of a span, or none: at any time
  Time from{};                         ///< not before, counted from the end of the set-up
  Time to = Time::never();             ///< not after
  Time least_lag{};                ///< since the event that was found for the expectation before
  Time most_lag = Time::never();   ///< likewise
  std::optional<ValueTest> count;  ///< how often, anywhere in the run; it keeps no order then

  /// Reads a map of fields; `within`, `after`, `before`, `lag` and `count` have the meaning above.
  static EventPattern read(const config::Value& value, const Spot& spot);

  /// Of fields and the texts that stand for their values.
  static EventPattern of(const config::Place& place,
                         const std::vector<std::pair<std::string, std::string>>& fields);
  /// With captured values in place of references; one that has no value matches no event.
  EventPattern bound(const Captures& captured) const;
  /// Names the fields of an event that this pattern has found.
  void capture(const Json& event, Captures& captured) const;
  /// Never with references, which have to be bound first.
  bool matches(const Json& event) const;
  /// ... and comes in time behind one that happened at `previous_ns`.
  bool matches(const Json& event, double previous_ns) const;
  /// Fields that hold, to find the event that was nearly the right one.
  std::size_t agreement(const Json& event) const;
  /// The fields that do not hold, with what the event has: "tag=7 direction=absent"; and those that
  /// it lacks for a capture.
  std::string difference(const Json& event) const;
  /// "wire type=Nak direction=down after 100 ns"
  std::string text() const;
};

}  // namespace flitwise::scenario
