// SPDX-License-Identifier: Apache-2.0
// Parts of case files.
#include "scenario/case_values.h"

#include "common/ranges.h"
#include "script/script_line.h"

namespace flitwise::scenario {

using config::Value;

void check_one_line(const std::string& line, const config::Place& place, const Spot& spot) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (any_of(line, is_control)) {
    spot.add(place, "has a line break or another control character; expected one line of text");
  }
}

void check_truth(const Value& value, const Spot& spot) {
  if (value.text != "true" && value.text != "false") {
    spot.add_unexpected(value, "true or false");
  }
}

void check_keys(const Value& map, const Spot& spot, const std::vector<std::string>& known,
                const std::function<std::string(const std::string& key)>& hint) {
  for (const Value::Entry& entry : map.entries) {
    if (!contains(known, entry.key)) {
      spot.at(entry.key).add(entry.place, "unknown key; expected " + config::alternatives(known) +
                                              config::nearest_hint(entry.key, known, "key") +
                                              (hint ? hint(entry.key) : ""));
    }
  }
}

const Value* value_of(const Value& map, const std::string& key, const Spot& spot,
                      Value::Kind kind) {
  const Value::Entry* entry = map.find(key);
  if (entry == nullptr) {
    return nullptr;
  }
  if (entry->value.kind != kind) {
    spot.at(key).add_unexpected(entry->value, kind == Value::Kind::kMap ? "a map" : "a list");
    return nullptr;
  }
  return &entry->value;
}

void for_items(const Value& map, const std::string& key, const Spot& spot,
               const std::function<void(const Value& item, const Spot& spot)>& read) {
  const Value* list = value_of(map, key, spot, Value::Kind::kSequence);
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    read(list->items[i], spot.at(key + "[" + std::to_string(i) + "]"));
  }
}

Json json_of(const Value& value) {
  if (value.kind == Value::Kind::kNull || value.kind == Value::Kind::kScalar) {
    return value.kind == Value::Kind::kNull ? Json() : Json(value.text);
  }
  Json json = value.kind == Value::Kind::kSequence ? Json::array() : Json::object();
  for (const Value& item : value.items) {
    json.push_back(json_of(item));
  }
  for (const Value::Entry& entry : value.entries) {
    json[entry.key] = json_of(entry.value);
  }
  return json;
}

namespace {

// All that stands in one line of JSON stands at that line.
Value value_of(const Json& json, const config::Place& place) {
  Value value;
  value.place = place;
  value.kind = json.is_object()  ? Value::Kind::kMap
               : json.is_array() ? Value::Kind::kSequence
               : json.is_null()  ? Value::Kind::kNull
                                 : Value::Kind::kScalar;
  if (value.kind == Value::Kind::kScalar) {
    value.text = json.is_string() ? json.get<std::string>() : json.dump();
  }
  for (const auto& item : json.items()) {
    if (json.is_object()) {
      value.entries.push_back({item.key(), place, value_of(item.value(), place)});
    } else if (json.is_array()) {
      value.items.push_back(value_of(item.value(), place));
    }
  }
  return value;
}

}  // namespace

EventPattern awaited_event(const Json& fields, int line) {
  config::ProblemList problems;
  EventPattern pattern =
      read_lone_pattern(value_of(fields, {"script", line, 1, 0}), {"until", problems});
  refuse_references(pattern, {"until", problems});
  if (!problems.empty()) {
    throw ConfigError(problems.sorted());
  }
  return pattern;
}

std::vector<Problem> problems_of_operation(const Json& op, int line) {
  try {
    parse_script_line(op, line);
  } catch (const ConfigError& error) {
    return error.problems();
  }
  return {};
}

Json read_operation(const Value::Entry& verb, const Spot& spot) {
  Json op = {{"op", verb.key}};
  const Value& fields = verb.value;
  if (fields.kind == Value::Kind::kMap) {
    for (const Value::Entry& entry : fields.entries) {
      op[entry.key] = json_of(entry.value);
    }
  } else if (verb.key == "translate" && fields.kind == Value::Kind::kScalar) {
    op["state"] = fields.text;
  } else if (verb.key == "run" && fields.kind == Value::Kind::kScalar) {
    op[fields.text == "idle" ? "until" : "for"] = fields.text;
  } else if ((verb.key == "pio" || verb.key == "rdma" || verb.key == "hca" ||
              verb.key == "srdma") &&
             fields.kind == Value::Kind::kSequence) {
    op["line"] = json_of(fields);
  } else if (fields.kind != Value::Kind::kNull) {
    spot.add_unexpected(fields, "the fields of the operation");
  }
  const Value::Entry* const until = verb.key == "run" ? fields.find("until") : nullptr;
  if (until != nullptr && until->value.kind == Value::Kind::kMap) {
    refuse_references(read_lone_pattern(until->value, spot.at("until")), spot.at("until"));
  }
  for (const Problem& problem : problems_of_operation(op, verb.place.line)) {
    (problem.path.empty() ? spot : spot.at(problem.path)).add(verb.place, problem.message);
  }
  return op;
}

EventPattern read_lone_pattern(const Value& value, const Spot& spot, const std::string& allowed) {
  for (const Value::Entry& entry : value.entries) {
    const bool is_span = entry.key == "between";
    if (entry.key != allowed &&
        (is_span || entry.key == "count" || entry.key == "lag" || entry.key == "capture")) {
      spot.at(entry.key).add(entry.place, std::string("has no meaning here; expected it in a ") +
                                              "pattern of " + (is_span ? "never" : "expect"));
    }
  }
  return EventPattern::read(value, spot);
}

}  // namespace flitwise::scenario
