// SPDX-License-Identifier: Apache-2.0
/// What a case says about one value: a place in the file that is read, and a test.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "common/problems.h"
#include "config/document.h"

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

/// Hexadecimal digits in pairs, or none.
bool is_digits(const std::string& text);
/// Without blanks at its ends.
std::string trimmed(const std::string& text);
/// Those of a list, or the value itself.
std::vector<config::Value> items_of(const config::Value& value);

/// The same for a figure, which is a number from 0 on: what holds for all of them proves nothing.
ValueTest read_figure(const config::Value& value, const Spot& spot);

}  // namespace flitwise::scenario
