// SPDX-License-Identifier: Apache-2.0
/// What a case says about one event: the fields it has to have, their values, and when.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/problems.h"
#include "config/document.h"
#include "flitwise/time.h"

namespace flitwise::scenario {

using Json = nlohmann::ordered_json;

/// What is read of a case file, by its path, and where its problems go.
struct Spot {
  std::string path;
  config::ProblemList& problems;

  Spot at(const std::string& key) const {
    return {path.empty() ? key : path + "." + key, problems};
  }
  void add(const config::Place& place, const std::string& message) const {
    problems.add(place, path, message);
  }
  /// What the value is, and what was expected.
  void add_unexpected(const config::Value& value, const std::string& expected) const {
    add(value.place, "is " + value.seen() + "; expected " + expected);
  }
};

/// What one value may be: `3`, `0x10`, `Nak`, `">= 2"`, `"!= 0"`, `"4..8"`, `any`, or a list of
/// such texts of which one has to hold. Numbers are compared as numbers in whatever base they
/// stand.
class ValueTest {
 public:
  static ValueTest read(const config::Value& value, const Spot& spot);

  /// A text as it would stand in a case file.
  static ValueTest of(const std::string& text);
  /// This very value, or any but this.
  static ValueTest equal_to(const Json& value, bool is_negated);
  /// No value holds.
  static ValueTest nothing(const std::string& text);
  bool holds(const Json& value) const;
  /// Can a number hold, or be told from others? Bytes in hexadecimal? No other value would be seen
  /// where events have only such.
  bool suits_numbers() const;
  bool suits_digits() const;
  /// For bytes in hexadecimal: digits are compared as they stand, whatever number they would make.
  bool holds_digits(const std::string& digits) const;
  /// May the field be missing?
  bool accepts_absence() const;
  const std::string& text() const { return text_; }

 private:
  enum class Relation { kEqual, kNotEqual, kCompared, kBetween, kAny, kAbsent };
  struct One {
    Relation relation = Relation::kEqual;
    std::string first, second;
    bool is_less_good = false, is_same_good = false, is_more_good = false;  // of kCompared
  };
  static One read_one(const std::string& text);
  /// Why no value is known to hold; empty where one may.
  static std::string flaw(const One& one);
  static bool holds(const One& one, const Json& value);
  template <class Test>
  bool any(Test test) const {
    return std::any_of(any_of_.begin(), any_of_.end(), test);
  }

  std::vector<One> any_of_;
  std::string text_;
};

/// A field of an event as a text, long payloads cut short. REQUIRES: the event has it.
std::string value_text(const Json& event, const std::string& field);
/// Hexadecimal digits in pairs, or none.
bool is_digits(const std::string& text);
/// Without blanks at its ends.
std::string trimmed(const std::string& text);
/// Those of a list, or the value itself.
std::vector<config::Value> items_of(const config::Value& value);

/// The same for a figure, which is a number from 0 on: what holds for all of them proves nothing.
ValueTest read_figure(const config::Value& value, const Spot& spot);

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

// The words of the event language, so that a misspelt one is refused instead of never matching.

/// The words of a text, which blanks keep apart.
std::vector<std::string> words_of(const std::string& text);
/// "wire", "committed", ...
const std::vector<std::string>& event_names();
/// Every field that an event of this name may have, those of all packets included, in alphabetical
/// order; of another name: that some event may have.
const std::vector<std::string>& event_fields(const std::string& event = "");
/// Every kind of an `error`.
const std::vector<std::string>& error_kinds();
bool is_error_kind(const std::string& kind);
/// What `errors` of result.json may count: kinds of errors, and what no event tells of.
bool is_counted_error(const std::string& kind);
/// "; nearest kind 'malformed_tlp'", or nothing where none is spelt alike.
std::string hint_of_counted_error(const std::string& kind);
/// All words that a field can have in events of this name (empty: of any), or null where it may
/// have any value.
const std::vector<std::string>* field_words(const std::string& field, const std::string& event);

}  // namespace flitwise::scenario
