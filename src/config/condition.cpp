// SPDX-License-Identifier: Apache-2.0
// Conditions over keys, evaluated and in words.
#include "config/condition.h"

#include <fmt/format.h>

#include "common/problems.h"
#include "common/ranges.h"
#include "config/sections/sections.h"

namespace flitwise::config {
namespace {

std::string value_in(const Config& config, const std::string& path) {
  return as_text(find_row(path)->write(config));
}

bool fits(const std::string& value, const std::string& pattern) {
  return !pattern.empty() && pattern.back() == '*'
             ? value.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0
             : value == pattern;
}

std::string value_text(const std::string& value) {
  return value.empty() ? "empty" : value;
}

}  // namespace

bool KeyTest::holds(const Config& config) const {
  const std::string value = value_in(config, path);
  return any_of(values, [&](const std::string& one) { return fits(value, one); }) != is_negated;
}

std::string KeyTest::text() const {
  return fmt::format("{} is {}{}", path, is_negated ? "not " : "",
                     alternatives(mapped(values, value_text)));
}

std::string KeyTest::seen(const Config& config) const {
  return fmt::format("{} is {}", path, value_text(value_in(config, path)));
}

bool Condition::holds(const Config& config) const {
  return alternatives.empty() || any_of(alternatives, [&](const auto& tests) {
           return all_of(tests, [&](const KeyTest& test) { return test.holds(config); });
         });
}

std::string Condition::text() const {
  const auto joined_by_and = [](const std::vector<KeyTest>& tests) {
    return fmt::format("{}", fmt::join(mapped(tests, &KeyTest::text), " and "));
  };
  return fmt::format("{}", fmt::join(mapped(alternatives, joined_by_and), ", or "));
}

std::string Condition::obstacle(const Config& config) const {
  std::vector<KeyTest> fewest;
  for (const std::vector<KeyTest>& tests : alternatives) {
    const auto failing = those(tests, [&](const KeyTest& test) { return !test.holds(config); });
    fewest = fewest.empty() || failing.size() < fewest.size() ? failing : fewest;
  }
  return fmt::format(
      "{}",
      fmt::join(mapped(fewest, [&](const KeyTest& test) { return test.seen(config); }), " and "));
}

Condition Condition::without(const std::string& path) const {
  Condition rest;
  for (const std::vector<KeyTest>& tests : alternatives) {
    rest.alternatives.push_back(
        those(tests, [&](const KeyTest& test) { return test.path != path; }));
    if (rest.alternatives.back().empty()) {
      return {};
    }
  }
  return rest;
}

nlohmann::ordered_json Condition::json() const {
  auto all = nlohmann::ordered_json::array();
  for (const std::vector<KeyTest>& tests : alternatives) {
    all.push_back(
        mapped<nlohmann::ordered_json>(tests, [](const KeyTest& test) -> nlohmann::ordered_json {
          return {{"key", test.path}, {test.is_negated ? "is_not" : "is", test.values}};
        }));
  }
  return all;
}

Condition is(const std::string& path, const std::vector<std::string>& values) {
  return {{{{path, values, false}}}};
}

Condition is_not(const std::string& path, const std::vector<std::string>& values) {
  return {{{{path, values, true}}}};
}

Condition operator&&(const Condition& a, const Condition& b) {
  if (a.alternatives.empty() || b.alternatives.empty()) {
    return a.alternatives.empty() ? b : a;
  }
  Condition both;
  for (const std::vector<KeyTest>& one : a.alternatives) {
    for (const std::vector<KeyTest>& other : b.alternatives) {
      both.alternatives.push_back(one);
      auto& tests = both.alternatives.back();
      tests.insert(tests.end(), other.begin(), other.end());
    }
  }
  return both;
}

Condition operator||(const Condition& a, const Condition& b) {
  if (a.alternatives.empty() || b.alternatives.empty()) {
    return {};
  }
  Condition either = a;
  either.alternatives.insert(either.alternatives.end(), b.alternatives.begin(),
                             b.alternatives.end());
  return either;
}

}  // namespace flitwise::config
