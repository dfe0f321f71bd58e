// SPDX-License-Identifier: Apache-2.0
// Matching of events.
#include "scenario/event_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "config/quantity.h"
#include "scenario/vocabulary.h"

namespace flitwise::scenario {
namespace {

// 3, 0x10, 0.5, 1e6; long rows of digits, or such with leading zeros, are no numbers but bytes.
bool is_number(const std::string& text) {
  constexpr std::size_t kMostDigits = 18;
  if (text.rfind("0x", 0) == 0) {
    return text.size() > 2 && text.size() <= kMostDigits &&
           text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
  }
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::size_t whole =
      std::min(text.find_first_not_of("0123456789", sign), text.size()) - sign;
  const bool has_leading_zero = whole > 1 && text[sign] == '0';
  return whole > 0 && !has_leading_zero && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789.eE+-", sign) == std::string::npos;
}

std::optional<double> number_of(const std::string& text) {
  if (!is_number(text)) {
    return std::nullopt;
  }
  char* end = nullptr;
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const double value = is_hex ? static_cast<double>(std::strtoull(text.c_str(), &end, 16))
                              : std::strtod(text.c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

std::optional<double> number_of(const Json& value) {
  if (value.is_boolean()) {
    return std::nullopt;
  }
  return value.is_number()   ? std::optional(value.get<double>())
         : value.is_string() ? number_of(value.get_ref<const std::string&>())
                             : std::nullopt;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_equal(const Json& value, const std::string& text) {
  if (text_of(value) == text) {
    return true;
  }
  const std::optional<double> seen = number_of(value);
  const std::optional<double> wanted = number_of(text);
  return seen && wanted && *seen == *wanted;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

void check_word(const std::string& word, const std::vector<std::string>& known, const char* what,
                const config::Place& place, const std::string& path,
                config::ProblemList& problems) {
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    problems.add(place, path,
                 std::string("no ") + what + " is called '" + word + "'" +
                     config::nearest_hint(word, known, what));
  }
}

std::optional<Time> read_time(const config::Value& value, const std::string& path,
                              config::ProblemList& problems) {
  const auto read = config::read_quantity(value.text, config::time_dimension());
  if (!read.value) {
    problems.add(value.place, path, read.problem);
    return std::nullopt;
  }
  return Time{*read.value};
}

}  // namespace

ValueTest ValueTest::read(const config::Value& value, const std::string& path,
                          config::ProblemList& problems) {
  using Kind = config::Value::Kind;
  ValueTest test;
  if (value.kind == Kind::kScalar || value.kind == Kind::kNull) {
    test.text_ = value.text;
    test.any_of_.push_back(read_one(value.text));
    return test;
  }
  if (value.kind == Kind::kMap || value.items.empty()) {
    problems.add(value.place, path,
                 "is " + value.seen() + "; expected a value or a list of values");
    return test;
  }
  for (const config::Value& item : value.items) {
    test.text_ += (test.text_.empty() ? "" : " or ") + item.text;
    test.any_of_.push_back(read_one(item.text));
  }
  return test;
}

ValueTest::One ValueTest::read_one(const std::string& text) {
  static const std::vector<std::pair<const char*, Relation>> kRelations = {
      {">=", Relation::kAtLeast},
      {"<=", Relation::kAtMost},
      {"!=", Relation::kNotEqual},
      {">", Relation::kMore},
      {"<", Relation::kLess}};
  if (text == "any" || text == "absent") {
    return {text == "any" ? Relation::kAny : Relation::kAbsent, "", ""};
  }
  for (const auto& [sign, relation] : kRelations) {
    if (text.rfind(sign, 0) == 0) {
      return {relation, trimmed(text.substr(std::string(sign).size())), ""};
    }
  }
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos && number_of(trimmed(text.substr(0, dots))) &&
      number_of(trimmed(text.substr(dots + 2)))) {
    return {Relation::kBetween, trimmed(text.substr(0, dots)), trimmed(text.substr(dots + 2))};
  }
  return {Relation::kEqual, text, ""};
}

bool ValueTest::holds(const One& one, const Json& value) {
  if (one.relation == Relation::kAny || one.relation == Relation::kAbsent) {
    return one.relation == Relation::kAny;
  }
  if (one.relation == Relation::kEqual || one.relation == Relation::kNotEqual) {
    return is_equal(value, one.first) == (one.relation == Relation::kEqual);
  }
  const std::optional<double> seen = number_of(value);
  const std::optional<double> bound = number_of(one.first);
  if (!seen || !bound) {
    return false;
  }
  switch (one.relation) {
    case Relation::kLess:
      return *seen < *bound;
    case Relation::kAtMost:
      return *seen <= *bound;
    case Relation::kMore:
      return *seen > *bound;
    case Relation::kAtLeast:
      return *seen >= *bound;
    case Relation::kBetween:
      return *seen >= *bound && *seen <= *number_of(one.second);
    case Relation::kEqual:
    case Relation::kNotEqual:
    case Relation::kAny:
    case Relation::kAbsent:
      break;
  }
  return false;
}

bool ValueTest::holds_digits(const std::string& digits) const {
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::any_of(any_of_.begin(), any_of_.end(), [&](const One& one) {
    const bool equal =
        std::equal(digits.begin(), digits.end(), one.first.begin(), one.first.end(), is_same);
    return one.relation == Relation::kAny || (one.relation == Relation::kEqual && equal) ||
           (one.relation == Relation::kNotEqual && !equal);
  });
}

bool ValueTest::accepts_absence() const {
  return std::any_of(any_of_.begin(), any_of_.end(),
                     [](const One& one) { return one.relation == Relation::kAbsent; });
}

bool ValueTest::holds(const Json& value) const {
  return std::any_of(any_of_.begin(), any_of_.end(),
                     [&](const One& one) { return holds(one, value); });
}

EventPattern EventPattern::read(const config::Value& value, const std::string& path,
                                config::ProblemList& problems) {
  EventPattern pattern;
  pattern.place = value.place;
  if (value.kind != config::Value::Kind::kMap || value.entries.empty()) {
    problems.add(value.place, path,
                 "is " + value.seen() + "; expected fields such as {event: wire, type: Nak}");
    return pattern;
  }
  for (const config::Value::Entry& entry : value.entries) {
    const std::string key = path + "." + entry.key;
    if (entry.key == "count") {
      pattern.count = ValueTest::read(entry.value, key, problems);
    } else if (entry.key == "after" || entry.key == "before") {
      const auto time = read_time(entry.value, key, problems);
      (entry.key == "after" ? pattern.from : pattern.to) = time.value_or(Time{});
    } else if (entry.key == "within") {
      if (entry.value.items.size() != 2) {
        problems.add(entry.value.place, key,
                     "is " + entry.value.seen() + "; expected two times such as [100ns, 2us]");
        continue;
      }
      pattern.from = read_time(entry.value.items[0], key, problems).value_or(Time{});
      pattern.to = read_time(entry.value.items[1], key, problems).value_or(Time::never());
    } else {
      check_word(entry.key, event_fields(), "field", entry.place, key, problems);
      if (entry.key == "event" && entry.value.kind == config::Value::Kind::kScalar) {
        check_word(entry.value.text, event_names(), "event", entry.value.place, key, problems);
      }
      pattern.fields.push_back({entry.key, ValueTest::read(entry.value, key, problems)});
    }
  }
  if (pattern.to < pattern.from) {
    problems.add(value.place, path,
                 fmt::format("from {} ns to {} ns never passes; expected the earlier time first",
                             pattern.from.ns(), pattern.to.ns()));
  }
  return pattern;
}

bool EventPattern::matches(const Json& event) const {
  if (agreement(event) != fields.size()) {
    return false;
  }
  const double t = event.value("t_ns", 0.0);
  return t >= from.ns() && (to == Time::never() || t <= to.ns());
}

std::size_t EventPattern::agreement(const Json& event) const {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(), [&](const Field& field) {
        const auto found = event.find(field.name);
        if (found == event.end()) {
          return field.test.accepts_absence();
        }
        const bool is_bytes =
            (field.name == "hex" || field.name == "payload") && found->is_string();
        return is_bytes ? field.test.holds_digits(found->get_ref<const std::string&>())
                        : field.test.holds(*found);
      }));
}

std::string EventPattern::text() const {
  std::string text;
  for (const Field& field : fields) {
    text += (text.empty() ? "" : " ") +
            (field.name == "event" ? field.test.text() : field.name + "=" + field.test.text());
  }
  if (from > Time{}) {
    text += fmt::format(" after {} ns", from.ns());
  }
  if (to != Time::never()) {
    text += fmt::format(" before {} ns", to.ns());
  }
  return count ? text + " (" + count->text() + " times)" : text;
}

}  // namespace flitwise::scenario
