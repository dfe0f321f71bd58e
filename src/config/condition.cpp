// SPDX-License-Identifier: Apache-2.0
// Conditions over keys, evaluated and in words.
#include "config/condition.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/problems.h"
#include "common/ranges.h"
#include "config/sections/sections.h"
#include "flitwise/error.h"

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

/// Every value that `narrow` describes is one that `wide` does.
bool lies_in(const std::vector<std::string>& narrow, const std::vector<std::string>& wide) {
  return all_of(narrow, [&](const std::string& value) {
    return any_of(wide, [&](const std::string& one) { return fits(value, one); });
  });
}

using Tests = std::vector<KeyTest>;

/// Where `a` holds, `b` does.
bool implies(const KeyTest& a, const KeyTest& b) {
  if (a.path != b.path || (a.is_negated && !b.is_negated)) {
    return false;
  }
  return !b.is_negated  ? lies_in(a.values, b.values)
         : a.is_negated ? lies_in(b.values, a.values)
                        : none_of(a.values, [&](const std::string& one) {
                            return any_of(b.values, [&](const std::string& other) {
                              return fits(one, other) || fits(other, one);
                            });
                          });
}

/// Where all of `a` hold, all of `b` do.
bool implies(const Tests& a, const Tests& b) {
  return all_of(b, [&](const KeyTest& other) {
    return any_of(a, [&](const KeyTest& one) { return implies(one, other); });
  });
}

/// No value passes both.
bool contradict(const KeyTest& a, const KeyTest& b) {
  const KeyTest not_b{b.path, b.values, !b.is_negated};
  return implies(a, not_b);
}

/// Adds a test to those that hold together, unless they say as much.
void add_test(Tests& tests, const KeyTest& test) {
  if (!implies(tests, {test})) {
    tests.erase(std::remove_if(tests.begin(), tests.end(),
                               [&](const KeyTest& wider) { return implies(test, wider); }),
                tests.end());
    tests.push_back(test);
  }
}

bool contradicts_itself(const Tests& tests) {
  return any_of(tests, [&](const KeyTest& one) {
    return any_of(tests, [&](const KeyTest& other) { return contradict(one, other); });
  });
}

/// Adds a way, unless it adds no case to those that there are.
void add_way(std::vector<Tests>& ways, const Tests& way) {
  if (!any_of(ways, [&](const Tests& other) { return implies(way, other); })) {
    ways.erase(std::remove_if(ways.begin(), ways.end(),
                              [&](const Tests& other) { return implies(other, way); }),
               ways.end());
    ways.push_back(way);
  }
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

bool Condition::holds(const Config& config, const IsRead& is_read) const {
  return alternatives.empty() || any_of(alternatives, [&](const Tests& tests) {
           return all_of(tests, [&](const KeyTest& test) { return test.holds(config); }) &&
                  all_of(tests, [&](const KeyTest& test) { return is_read(test.path); });
         });
}

std::string Condition::text() const {
  const auto joined_by_and = [](const std::vector<KeyTest>& tests) {
    return fmt::format("{}", fmt::join(mapped(tests, &KeyTest::text), " and "));
  };
  return fmt::format("{}", fmt::join(mapped(alternatives, joined_by_and), ", or "));
}

std::string Condition::obstacle(const Config& config, const IsRead& is_read) const {
  std::vector<std::string> fewest;
  for (const Tests& tests : alternatives) {
    std::vector<std::string> in_the_way =
        mapped(those(tests, [&](const KeyTest& test) { return !test.holds(config); }),
               [&](const KeyTest& test) { return test.seen(config); });
    if (in_the_way.empty()) {
      in_the_way = mapped(those(tests, [&](const KeyTest& test) { return !is_read(test.path); }),
                          [](const KeyTest& test) { return test.path + " has no effect"; });
    }
    fewest = fewest.empty() || in_the_way.size() < fewest.size() ? in_the_way : fewest;
  }
  return fmt::format("{}", fmt::join(fewest, " and "));
}

Condition Condition::without(const std::string& path) const {
  Condition rest;
  for (const std::vector<KeyTest>& tests : alternatives) {
    const Tests others = those(tests, [&](const KeyTest& test) { return test.path != path; });
    if (others.empty()) {
      return {};
    }
    add_way(rest.alternatives, others);
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
  for (const Tests& one : a.alternatives) {
    for (const Tests& other : b.alternatives) {
      Tests tests = one;
      for (const KeyTest& test : other) {
        add_test(tests, test);
      }
      if (!contradicts_itself(tests)) {
        add_way(both.alternatives, tests);
      }
    }
  }
  FLITWISE_CHECK(!both.alternatives.empty(),
                 "a condition that never holds: " + a.text() + "; " + b.text());
  return both;
}

Condition operator||(const Condition& a, const Condition& b) {
  if (a.alternatives.empty() || b.alternatives.empty()) {
    return {};
  }
  Condition either = a;
  for (const Tests& way : b.alternatives) {
    add_way(either.alternatives, way);
  }
  return either;
}

}  // namespace flitwise::config
