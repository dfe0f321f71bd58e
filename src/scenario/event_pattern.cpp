// SPDX-License-Identifier: Apache-2.0
// Matching of events.
#include "scenario/event_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/quantity.h"
#include "scenario/case_values.h"
#include "scenario/number.h"
#include "scenario/vocabulary.h"

namespace flitwise::scenario {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool is_equal(const Json& value, const std::string& text) {
  if (text_of(value) == text) {
    return true;
  }
  const std::optional<Number> seen = Number::of(value);
  const std::optional<Number> wanted = Number::of(text);
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

// Of a list, or the value itself.
std::vector<config::Value> items_of(const config::Value& value) {
  return value.kind == config::Value::Kind::kSequence ? value.items : std::vector{value};
}

// The words that a field can have, where there are only so many: others would never be seen.
void check_values(const config::Value& pattern, const std::string& path,
                  config::ProblemList& problems) {
  const config::Value::Entry* const event = pattern.find("event");
  for (const config::Value::Entry& entry : pattern.entries) {
    const std::vector<std::string>* const words =
        field_words(entry.key, event == nullptr ? "" : event->value.text);
    if (words == nullptr) {
      continue;
    }
    for (const config::Value& item : items_of(entry.value)) {
      const std::string word =
          item.text.rfind("!=", 0) == 0 ? trimmed(item.text.substr(2)) : item.text;
      if (word != "any" && word != "absent") {
        check_word(word, *words, entry.key.c_str(), item.place, path + "." + entry.key, problems);
      }
    }
  }
}

// Events that a pattern names, none where it may be any.
std::vector<std::string> named_events(const config::Value& pattern) {
  const config::Value::Entry* const event = pattern.find("event");
  if (event == nullptr) {
    return {};
  }
  std::vector<std::string> names;
  for (const config::Value& item : items_of(event->value)) {
    if (std::find(event_names().begin(), event_names().end(), item.text) == event_names().end()) {
      return {};
    }
    names.push_back(item.text);
  }
  return names;
}

// A field that none of these events has would never be seen.
void check_field(const config::Value::Entry& entry, const std::vector<std::string>& events,
                 const std::string& path, config::ProblemList& problems) {
  const auto has_field = [&](const std::string& event) {
    const std::vector<std::string>& fields = event_fields(event);
    return std::binary_search(fields.begin(), fields.end(), entry.key);
  };
  if (events.empty() || !has_field("")) {
    check_word(entry.key, event_fields(events.size() == 1 ? events[0] : ""), "field", entry.place,
               path, problems);
  } else if (std::none_of(events.begin(), events.end(), has_field)) {
    problems.add(
        entry.place, path,
        "is no field of " + config::alternatives(events) +
            (events[0] == "wire" ? std::string()
                                 : "; expected " + config::alternatives(event_fields(events[0]))));
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

// [least, most]
void read_span(const config::Value& value, const std::string& path, Time& least, Time& most,
               config::ProblemList& problems) {
  if (value.items.size() != 2) {
    add_unexpected(value, path, "two times such as [100ns, 2us]", problems);
    return;
  }
  least = read_time(value.items[0], path, problems).value_or(Time{});
  most = read_time(value.items[1], path, problems).value_or(Time::never());
  if (most < least) {
    problems.add(value.place, path,
                 fmt::format("from {} ns to {} ns never passes; expected the earlier time first",
                             least.ns(), most.ns()));
  }
}

}  // namespace

ValueTest ValueTest::read(const config::Value& value, const std::string& path,
                          config::ProblemList& problems) {
  using Kind = config::Value::Kind;
  ValueTest test;
  if (value.kind == Kind::kMap || (value.kind == Kind::kSequence && value.items.empty())) {
    add_unexpected(value, path, "a value or a list of values", problems);
    return test;
  }
  for (const config::Value& one : items_of(value)) {
    test.text_ += (test.text_.empty() ? "" : " or ") + one.text;
    test.any_of_.push_back(read_one(one.text));
    if (const std::string problem = flaw(test.any_of_.back()); !problem.empty()) {
      add_unexpected(one, path, problem, problems);
    }
  }
  return test;
}

ValueTest ValueTest::of(const std::string& text) {
  config::Value value;
  value.kind = config::Value::Kind::kScalar;
  value.text = text;
  config::ProblemList ignored;
  return read(value, "", ignored);
}

std::string ValueTest::flaw(const One& one) {
  switch (one.relation) {
    case Relation::kCompared:
      return Number::of(one.first) ? "" : "a number behind the relation, such as \">= 2\"";
    case Relation::kBetween:
      return *Number::of(one.first) <= *Number::of(one.second)
                 ? ""
                 : "the smaller number first, such as \"4..8\"";
    case Relation::kNotEqual:
      return one.first.empty() ? "a value behind !=" : "";
    case Relation::kEqual:
    case Relation::kAny:
    case Relation::kAbsent:
      break;
  }
  return "";
}

ValueTest::One ValueTest::read_one(const std::string& text) {
  static const std::vector<std::pair<std::string, One>> kRelations = {
      {">=", {Relation::kCompared, "", "", false, true, true}},
      {"<=", {Relation::kCompared, "", "", true, true, false}},
      {"!=", {Relation::kNotEqual, "", "", false, false, false}},
      {">", {Relation::kCompared, "", "", false, false, true}},
      {"<", {Relation::kCompared, "", "", true, false, false}}};
  One one;
  if (text == "any" || text == "absent") {
    one.relation = text == "any" ? Relation::kAny : Relation::kAbsent;
    return one;
  }
  for (const auto& [sign, relation] : kRelations) {
    if (text.rfind(sign, 0) == 0) {
      one = relation;
      one.first = trimmed(text.substr(sign.size()));
      return one;
    }
  }
  one.first = text;
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos && Number::of(trimmed(text.substr(0, dots))) &&
      Number::of(trimmed(text.substr(dots + 2)))) {
    one.relation = Relation::kBetween;
    one.first = trimmed(text.substr(0, dots));
    one.second = trimmed(text.substr(dots + 2));
  }
  return one;
}

bool ValueTest::holds(const One& one, const Json& value) {
  if (one.relation == Relation::kAny || one.relation == Relation::kAbsent) {
    return one.relation == Relation::kAny;
  }
  if (one.relation == Relation::kEqual || one.relation == Relation::kNotEqual) {
    return is_equal(value, one.first) == (one.relation == Relation::kEqual);
  }
  const std::optional<Number> seen = Number::of(value);
  const std::optional<Number> bound = Number::of(one.first);
  if (!seen || !bound) {
    return false;
  }
  if (one.relation == Relation::kBetween) {
    return *bound <= *seen && *seen <= *Number::of(one.second);
  }
  return *seen < *bound ? one.is_less_good : *bound < *seen ? one.is_more_good : one.is_same_good;
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

bool ValueTest::suits_digits() const {
  return std::all_of(any_of_.begin(), any_of_.end(), [](const One& one) {
    const bool is_hex = one.first.size() % 2 == 0 &&
                        one.first.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    return one.relation == Relation::kAny || one.relation == Relation::kAbsent ||
           ((one.relation == Relation::kEqual || one.relation == Relation::kNotEqual) && is_hex);
  });
}

bool ValueTest::suits_numbers() const {
  return std::all_of(any_of_.begin(), any_of_.end(),
                     [](const One& one) { return Number::of(one.first).has_value(); });
}

bool ValueTest::accepts_absence() const {
  return std::any_of(any_of_.begin(), any_of_.end(),
                     [](const One& one) { return one.relation == Relation::kAbsent; });
}

bool ValueTest::holds(const Json& value) const {
  return std::any_of(any_of_.begin(), any_of_.end(),
                     [&](const One& one) { return holds(one, value); });
}

ValueTest read_figure(const config::Value& value, const std::string& path,
                      config::ProblemList& problems) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  ValueTest test = ValueTest::read(value, path, problems);
  if (test.holds(Json(0U)) && test.holds(Json(1U)) && test.holds(Json(kHuge))) {
    problems.add(value.place, path, "is " + value.seen() + ", which holds for every number");
  }
  return test;
}

namespace {

ValueTest read_count(const config::Value& value, const std::string& path,
                     config::ProblemList& problems) {
  ValueTest test = read_figure(value, path, problems);
  if (!test.suits_numbers() && !test.holds(Json(0U))) {
    add_unexpected(value, path, "a number of events", problems);
  }
  return test;
}

bool is_bytes(const std::string& field) {
  return field == "hex" || field == "payload";
}

ValueTest read_field(const config::Value::Entry& entry, const std::string& path,
                     config::ProblemList& problems) {
  ValueTest test = ValueTest::read(entry.value, path, problems);
  if (is_bytes(entry.key) && !test.suits_digits()) {
    problems.add(entry.value.place, path,
                 "is " + entry.value.seen() +
                     ", which no bytes are; expected hexadecimal digits in pairs, != and such, any "
                     "or absent");
  }
  return test;
}

}  // namespace

EventPattern EventPattern::read(const config::Value& value, const std::string& path,
                                config::ProblemList& problems) {
  EventPattern pattern;
  pattern.place = value.place;
  if (value.kind != config::Value::Kind::kMap || value.entries.empty()) {
    add_unexpected(value, path, "fields such as {event: wire, type: Nak}", problems);
    return pattern;
  }
  const std::vector<std::string> events = named_events(value);
  for (const config::Value::Entry& entry : value.entries) {
    const std::string key = path + "." + entry.key;
    if (entry.key == "count") {
      pattern.count = read_count(entry.value, key, problems);
    } else if (entry.key == "after" || entry.key == "before") {
      const auto time = read_time(entry.value, key, problems);
      (entry.key == "after" ? pattern.from : pattern.to) = time.value_or(Time{});
    } else if (entry.key == "within") {
      read_span(entry.value, key, pattern.from, pattern.to, problems);
    } else if (entry.key == "lag") {
      read_span(entry.value, key, pattern.least_lag, pattern.most_lag, problems);
    } else {
      check_field(entry, events, key, problems);
      pattern.fields.push_back({entry.key, read_field(entry, key, problems)});
    }
  }
  check_values(value, path, problems);
  if (pattern.count && value.find("lag") != nullptr) {
    problems.add(value.find("lag")->place, path + ".lag",
                 "has no meaning beside count, which looks at the whole run");
  }
  if (pattern.to < pattern.from && value.find("within") == nullptr) {
    problems.add(value.place, path,
                 fmt::format("from {} ns to {} ns never passes; expected the earlier time first",
                             pattern.from.ns(), pattern.to.ns()));
  }
  return pattern;
}

EventPattern EventPattern::of(const config::Place& place,
                              const std::vector<std::pair<std::string, std::string>>& fields) {
  EventPattern pattern;
  pattern.place = place;
  for (const auto& [name, text] : fields) {
    pattern.fields.push_back({name, ValueTest::of(text)});
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

bool EventPattern::matches(const Json& event, double previous_ns) const {
  const double lag = event.value("t_ns", 0.0) - previous_ns;
  return lag >= least_lag.ns() && (most_lag == Time::never() || lag <= most_lag.ns()) &&
         matches(event);
}

std::size_t EventPattern::agreement(const Json& event) const {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(), [&](const Field& field) {
        const auto found = event.find(field.name);
        if (found == event.end()) {
          return field.test.accepts_absence();
        }
        return is_bytes(field.name) && found->is_string()
                   ? field.test.holds_digits(found->get_ref<const std::string&>())
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
  if (least_lag > Time{} || most_lag != Time::never()) {
    text += fmt::format(" {} ns to {} ns behind the event before", least_lag.ns(), most_lag.ns());
  }
  return count ? text + " (" + count->text() + " times)" : text;
}

}  // namespace flitwise::scenario
