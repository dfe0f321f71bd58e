// SPDX-License-Identifier: Apache-2.0
// Matching of events.
#include "scenario/event_pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/quantity.h"
#include "scenario/case_values.h"
#include "scenario/vocabulary.h"

namespace flitwise::scenario {
namespace {

void check_word(const std::string& word, const std::vector<std::string>& known, const char* what,
                const config::Place& place, const std::string& path,
                config::ProblemList& problems) {
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    problems.add(place, path,
                 std::string("no ") + what + " is called '" + word + "'" +
                     config::nearest_hint(word, known, what));
  }
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

void check_order(const config::Value& value, const std::string& path, Time first, Time last,
                 config::ProblemList& problems) {
  if (last < first) {
    problems.add(value.place, path,
                 fmt::format("from {} ns to {} ns never passes; expected the earlier time first",
                             first.ns(), last.ns()));
  }
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
  check_order(value, path, least, most, problems);
}

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
  if (value.find("within") == nullptr) {
    check_order(value, path, pattern.from, pattern.to, problems);
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
