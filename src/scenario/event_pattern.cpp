// SPDX-License-Identifier: Apache-2.0
// Matching of events.
#include "scenario/event_pattern.h"

#include <fmt/format.h>

#include "codec/message_json.h"
#include "common/quantity.h"
#include "scenario/case_values.h"
#include "scenario/event_words.h"
#include "scenario/message_patterns.h"

namespace flitwise::scenario {
namespace {

void check_word(const std::string& word, const std::vector<std::string>& known, const char* what,
                const config::Place& place, const Spot& spot) {
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    spot.add(place, std::string("no ") + what + " is called '" + word + "'" +
                        config::nearest_hint(word, known, what));
  }
}

// The words that a field can have, where there are only so many: others would never be seen.
void check_values(const config::Value& pattern, const Spot& spot) {
  const config::Value::Entry* const event = pattern.find("event");
  for (const config::Value::Entry& entry : pattern.entries) {
    const std::vector<std::string>* const words =
        field_words(entry.key, event == nullptr ? "" : event->value.text);
    if (words == nullptr || entry.value.kind == config::Value::Kind::kMap) {
      continue;
    }
    for (const config::Value& item : items_of(entry.value)) {
      if (item.kind != config::Value::Kind::kScalar) {
        continue;  // which has been said
      }
      const std::string word =
          item.text.rfind("!=", 0) == 0 ? trimmed(item.text.substr(2)) : item.text;
      if (word != "any" && word != "absent") {
        check_word(word, *words, entry.key.c_str(), item.place, spot.at(entry.key));
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
                 const Spot& spot) {
  const auto has_field = [&](const std::string& event) {
    const std::vector<std::string>& fields = event_fields(event);
    return std::binary_search(fields.begin(), fields.end(), entry.key);
  };
  if (events.empty() || !has_field("")) {
    check_word(entry.key, event_fields(events.size() == 1 ? events[0] : ""), "field", entry.place,
               spot);
  } else if (std::none_of(events.begin(), events.end(), has_field)) {
    spot.add(
        entry.place,
        "is no field of " + config::alternatives(events) +
            (events[0] == "wire" ? std::string()
                                 : "; expected " + config::alternatives(event_fields(events[0]))));
  }
}

std::optional<Time> read_time(const config::Value& value, const Spot& spot) {
  const auto read = config::read_quantity(value.text, config::time_dimension());
  if (!read.value) {
    spot.add(value.place, read.problem);
    return std::nullopt;
  }
  return Time{*read.value};
}

void check_order(const config::Value& value, const Spot& spot, Time first, Time last) {
  if (last < first) {
    spot.add(value.place,
             fmt::format("from {} ns to {} ns never passes; expected the earlier time first",
                         first.ns(), last.ns()));
  }
}

// [least, most]
void read_span(const config::Value& value, const Spot& spot, Time& least, Time& most) {
  if (value.items.size() != 2) {
    spot.add_unexpected(value, "two times such as [100ns, 2us]");
    return;
  }
  least = read_time(value.items[0], spot).value_or(Time{});
  most = read_time(value.items[1], spot).value_or(Time::never());
  check_order(value, spot, least, most);
}

ValueTest read_count(const config::Value& value, const Spot& spot) {
  ValueTest test = read_figure(value, spot);
  if (!test.suits_numbers() && !test.holds(Json(0U))) {
    spot.add_unexpected(value, "a number of events");
  }
  return test;
}

bool is_bytes(const std::string& field) {
  return field == "hex" || field == "payload";
}

constexpr std::size_t kShown = 64;  // digits of a payload: long ones would bury what matters

// [first, last]
std::vector<EventPattern> read_between(const config::Value& value, const Spot& spot) {
  if (value.kind != config::Value::Kind::kSequence || value.items.size() != 2) {
    spot.add_unexpected(value, "two events such as [{event: message}, {event: interrupt}]");
    return {};
  }
  std::vector<EventPattern> ends;
  for (const config::Value& end : value.items) {
    ends.push_back(read_lone_pattern(end, spot, ends.empty() ? "capture" : ""));
  }
  return ends;
}

ValueTest read_field(const config::Value::Entry& entry, const std::vector<std::uint64_t>& codes,
                     const Spot& spot) {
  check_message_field(entry.key, entry.place, codes, spot);
  ValueTest test = ValueTest::read(as_in_events(entry, codes, spot), spot);
  if (is_bytes(entry.key) && !test.suits_digits()) {
    spot.add(entry.value.place,
             "is " + entry.value.seen() +
                 ", which no bytes are; expected hexadecimal digits in pairs, != and such, any "
                 "or absent");
  }
  return test;
}

// {same: name} or {not: name}; nothing where it is none.
std::optional<EventPattern::NamedField> read_reference(const config::Value::Entry& entry,
                                                       const Spot& spot) {
  if (entry.value.kind != config::Value::Kind::kMap) {
    return std::nullopt;
  }
  const std::vector<config::Value::Entry>& inside = entry.value.entries;
  const bool is_good = inside.size() == 1 && (inside[0].key == "same" || inside[0].key == "not") &&
                       inside[0].value.kind == config::Value::Kind::kScalar;
  if (!is_good) {
    spot.add_unexpected(entry.value,
                        "a value, a list of values, or {same: name} or {not: name} of a capture");
    return EventPattern::NamedField{};
  }
  return EventPattern::NamedField{inside[0].value.text, entry.key, entry.value.place,
                                  inside[0].key == "not"};
}

std::vector<EventPattern::NamedField> read_captures(const config::Value& map,
                                                    const std::vector<std::string>& events,
                                                    const std::vector<std::uint64_t>& codes,
                                                    const Spot& spot) {
  if (map.kind != config::Value::Kind::kMap || map.entries.empty()) {
    spot.add_unexpected(map, "names and fields, such as {t: tag}");
  }
  std::vector<EventPattern::NamedField> captures;
  for (const config::Value::Entry& entry : map.entries) {
    check_field({entry.value.text, entry.value.place, {}}, events, spot.at(entry.key));
    check_message_field(entry.value.text, entry.value.place, codes, spot.at(entry.key));
    captures.push_back({entry.key, entry.value.text, entry.place});
  }
  return captures;
}

// What the event says in a field, null where it has none. A field of a message that is not printed
// as such is made of its numbers, and kept in `made`.
const Json* value_in(const Json& event, const std::string& field, Json& made) {
  const auto found = event.find(field);
  if (found != event.end()) {
    return &*found;
  }
  made = message_field_of(event, field);
  return made.is_null() ? nullptr : &made;
}
bool has(const Json& event, const std::string& field) {
  Json made;
  return value_in(event, field, made) != nullptr;
}

}  // namespace

std::string value_text(const Json& event, const std::string& field) {
  Json made;
  const Json* const found = value_in(event, field, made);
  const Json& value = found == nullptr ? made : *found;
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return !is_bytes(field) || text.size() <= kShown
             ? text
             : fmt::format("{}... ({} digits)", text.substr(0, kShown), text.size());
}

EventPattern EventPattern::read(const config::Value& value, const Spot& spot) {
  EventPattern pattern;
  pattern.place = value.place;
  if (value.kind != config::Value::Kind::kMap || value.entries.empty()) {
    spot.add_unexpected(value, "fields such as {event: wire, type: Nak}");
    return pattern;
  }
  const std::vector<std::string> events = named_events(value);
  const std::vector<std::uint64_t> codes = named_codes(value);
  for (const config::Value::Entry& entry : value.entries) {
    const Spot at = spot.at(entry.key);
    if (entry.key == "count") {
      pattern.count = read_count(entry.value, at);
    } else if (entry.key == "after" || entry.key == "before") {
      const auto time = read_time(entry.value, at);
      (entry.key == "after" ? pattern.from : pattern.to) = time.value_or(Time{});
    } else if (entry.key == "within") {
      read_span(entry.value, at, pattern.from, pattern.to);
    } else if (entry.key == "lag") {
      read_span(entry.value, at, pattern.least_lag, pattern.most_lag);
    } else if (entry.key == "capture") {
      pattern.captures = read_captures(entry.value, events, codes, at);
    } else if (entry.key == "between") {
      pattern.between = read_between(entry.value, at);
    } else if (const auto reference = read_reference(entry, at)) {
      check_field(entry, events, at);
      check_message_field(entry.key, entry.place, codes, at);
      pattern.references.push_back(*reference);
    } else {
      check_field(entry, events, at);
      pattern.fields.push_back({entry.key, read_field(entry, codes, at)});
    }
  }
  check_values(value, spot);
  for (const char* const key : {"lag", "capture"}) {
    if (pattern.count && value.find(key) != nullptr) {
      spot.at(key).add(value.find(key)->place,
                       "has no meaning beside count, which looks at the whole run");
    }
  }
  if (value.find("within") == nullptr) {
    check_order(value, spot, pattern.from, pattern.to);
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

EventPattern EventPattern::bound(const Captures& captured) const {
  if (references.empty()) {
    return *this;
  }
  EventPattern concrete = *this;
  concrete.references.clear();
  for (const NamedField& reference : references) {
    const auto value = captured.find(reference.name);
    concrete.fields.push_back(
        {reference.field, value == captured.end()
                              ? ValueTest::nothing("of " + reference.name + ", never captured")
                              : ValueTest::equal_to(value->second, reference.is_negated)});
  }
  return concrete;
}

void EventPattern::capture(const Json& event, Captures& captured) const {
  for (const NamedField& one : captures) {
    Json made;
    if (const Json* const value = value_in(event, one.field, made)) {
      captured[one.name] = *value;
    }
  }
}

bool EventPattern::matches(const Json& event) const {
  const auto has_field = [&](const NamedField& one) { return has(event, one.field); };
  if (!references.empty() || agreement(event) != fields.size() ||
      !std::all_of(captures.begin(), captures.end(), has_field)) {
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

bool EventPattern::Field::holds(const Json& event) const {
  Json made;
  const Json* const found = value_in(event, name, made);
  if (found == nullptr) {
    return test.accepts_absence();
  }
  return is_bytes(name) && found->is_string()
             ? test.holds_digits(found->get_ref<const std::string&>())
             : test.holds(*found);
}

std::size_t EventPattern::agreement(const Json& event) const {
  return static_cast<std::size_t>(std::count_if(
      fields.begin(), fields.end(), [&](const Field& field) { return field.holds(event); }));
}

std::string EventPattern::difference(const Json& event) const {
  std::string text;
  for (const Field& field : fields) {
    if (!field.holds(event)) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", field.name,
                          has(event, field.name) ? value_text(event, field.name) : "absent");
    }
  }
  for (const NamedField& one : captures) {
    if (!event.contains(one.field)) {
      text += fmt::format("{}{}=absent, which is captured", text.empty() ? "" : " ", one.field);
    }
  }
  return text;
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
  for (const NamedField& reference : references) {
    text += fmt::format(" {}={} as {}", reference.field, reference.is_negated ? "not" : "the same",
                        reference.name);
  }
  if (!between.empty()) {
    text += fmt::format(" between {} and {}", between[0].text(), between[1].text());
  }
  return count ? text + " (" + count->text() + " times)" : text;
}

}  // namespace flitwise::scenario
