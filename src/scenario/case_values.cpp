// SPDX-License-Identifier: Apache-2.0
// Parts of case files.
#include "scenario/case_values.h"

#include <algorithm>

#include "script/script_line.h"

namespace flitwise::scenario {

using config::Value;

void add_unexpected(const Value& value, const std::string& path, const std::string& expected,
                    config::ProblemList& problems) {
  problems.add(value.place, path, "is " + value.seen() + "; expected " + expected);
}

void check_truth(const Value& value, const std::string& path, config::ProblemList& problems) {
  if (value.text != "true" && value.text != "false") {
    add_unexpected(value, path, "true or false", problems);
  }
}

void check_keys(const Value& map, const std::string& path, const std::vector<std::string>& known,
                config::ProblemList& problems) {
  for (const Value::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      problems.add(entry.place, path + entry.key,
                   "unknown key; expected " + config::alternatives(known) +
                       config::nearest_hint(entry.key, known, "key"));
    }
  }
}

const Value* value_of(const Value& map, const std::string& key, const std::string& path,
                      Value::Kind kind, config::ProblemList& problems) {
  const Value::Entry* entry = map.find(key);
  if (entry == nullptr) {
    return nullptr;
  }
  if (entry->value.kind != kind) {
    add_unexpected(entry->value, path + key, kind == Value::Kind::kMap ? "a map" : "a list",
                   problems);
    return nullptr;
  }
  return &entry->value;
}

void for_items(const Value& map, const std::string& key, const std::string& path,
               config::ProblemList& problems,
               const std::function<void(const Value& item, const std::string& path)>& read) {
  const Value* list = value_of(map, key, path, Value::Kind::kSequence, problems);
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    read(list->items[i], path + key + "[" + std::to_string(i) + "]");
  }
}

Json json_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return nullptr;
    case Value::Kind::kScalar:
      return value.text;
    case Value::Kind::kSequence: {
      Json list = Json::array();
      for (const Value& item : value.items) {
        list.push_back(json_of(item));
      }
      return list;
    }
    case Value::Kind::kMap:
      break;
  }
  Json map = Json::object();
  for (const Value::Entry& entry : value.entries) {
    map[entry.key] = json_of(entry.value);
  }
  return map;
}

std::vector<Problem> problems_of_operation(const Json& op, int line) {
  try {
    parse_script_line(op, line);
  } catch (const ConfigError& error) {
    return error.problems();
  }
  return {};
}

Json read_operation(const Value::Entry& verb, const std::string& path,
                    config::ProblemList& problems) {
  Json op = {{"op", verb.key}};
  const Value& fields = verb.value;
  if (fields.kind == Value::Kind::kMap) {
    for (const Value::Entry& entry : fields.entries) {
      op[entry.key] = json_of(entry.value);
    }
  } else if (verb.key == "run" && fields.kind == Value::Kind::kScalar) {
    op[fields.text == "idle" ? "until" : "for"] = fields.text;
  } else if (fields.kind != Value::Kind::kNull) {
    add_unexpected(fields, path, "the fields of the operation", problems);
  }
  for (const Problem& problem : problems_of_operation(op, verb.place.line)) {
    problems.add(verb.place, path + (problem.path.empty() ? "" : "." + problem.path),
                 problem.message);
  }
  return op;
}

EventPattern read_lone_pattern(const Value& value, const std::string& path,
                               config::ProblemList& problems) {
  for (const Value::Entry& entry : value.entries) {
    if (entry.key == "count" || entry.key == "lag") {
      problems.add(entry.place, path + "." + entry.key,
                   "has no meaning here; expected it in a pattern of expect");
    }
  }
  return EventPattern::read(value, path, problems);
}

}  // namespace flitwise::scenario
