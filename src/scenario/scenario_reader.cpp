// SPDX-License-Identifier: Apache-2.0
// Case files become cases.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "config/quantity.h"
#include "flitwise/error.h"
#include "scenario/case_references.h"
#include "scenario/parameters.h"
#include "scenario/scenario.h"
#include "script/script_line.h"

namespace flitwise::scenario {
namespace {

using config::Value;

const std::vector<std::string> kKeys = {"id",     "title",    "cites",    "config",
                                        "matrix", "variants", "stimulus", "expect",
                                        "never",  "final",    "same_as"};
const std::vector<std::string> kConfigKeys = {"base", "set", "boot"};
const std::vector<std::string> kFinalKeys = {"memory", "counters", "handles", "answers"};

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

/// Reads one case of one file, its parameters filled in.
class Reader {
 public:
  Reader(const Value& document, config::ProblemList& problems)
      : document_(document), problems_(problems) {}

  Case read(const std::string& variant) {
    check_keys(document_, "", kKeys);
    case_.place = document_.place;
    case_.file = document_.place.file;
    case_.stem = text("id", true);
    case_.id = case_.stem + (variant.empty() ? "" : "/" + variant);
    case_.title = text("title", true);
    read_cites();
    read_config();
    read_stimulus();
    read_expect();
    read_never();
    read_final();
    read_same_as();
    if (case_.expect.empty() && case_.never.empty() && case_.final_checks.empty() &&
        case_.same_as.empty()) {
      add(document_.place, "expect", "is missing; expected something that can fail");
    }
    return std::move(case_);
  }

 private:
  void add(const config::Place& place, const std::string& path, const std::string& message) {
    problems_.add(place, path, message);
  }

  void check_keys(const Value& map, const std::string& path,
                  const std::vector<std::string>& known) {
    for (const Value::Entry& entry : map.entries) {
      if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
        add(entry.place, path + entry.key,
            "unknown key; expected " + config::alternatives(known) +
                config::nearest_hint(entry.key, known, "key"));
      }
    }
  }

  // The value of a key, if it is there and of that kind.
  const Value* value_of(const Value& map, const std::string& key, const std::string& path,
                        Value::Kind kind) {
    const Value::Entry* entry = map.find(key);
    if (entry == nullptr) {
      return nullptr;
    }
    if (entry->value.kind != kind) {
      add(entry->value.place, path + key,
          "is " + entry->value.seen() + "; expected " +
              (kind == Value::Kind::kMap ? "a map" : "a list"));
      return nullptr;
    }
    return &entry->value;
  }

  std::string text(const std::string& key, bool is_needed) {
    const Value::Entry* entry = document_.find(key);
    if (entry != nullptr && entry->value.kind == Value::Kind::kScalar) {
      return entry->value.text;
    }
    if (is_needed) {
      add(entry == nullptr ? document_.place : entry->value.place, key,
          entry == nullptr ? "is missing; expected a text"
                           : "is " + entry->value.seen() + "; expected a text");
    }
    return "";
  }

  void read_cites() {
    const Value::Entry* cites = document_.find("cites");
    if (cites == nullptr || cites->value.items.empty()) {
      add(document_.place, "cites", "is missing; expected a list of rule ids");
      return;
    }
    for (const Value& item : cites->value.items) {
      case_.cites.push_back(item.text);
    }
  }

  void read_config() {
    const Value* config = value_of(document_, "config", "", Value::Kind::kMap);
    if (config == nullptr) {
      return;
    }
    check_keys(*config, "config.", kConfigKeys);
    if (const Value::Entry* base = config->find("base")) {
      case_.base = base->value.text;
    }
    if (const Value::Entry* boot = config->find("boot")) {
      case_.boots = boot->value.text == "true";
      if (boot->value.text != "true" && boot->value.text != "false") {
        add(boot->value.place, "config.boot",
            "is " + boot->value.seen() + "; expected true or false");
      }
    }
    if (const Value* set = value_of(*config, "set", "config.", Value::Kind::kMap)) {
      for (const Value::Entry& entry : set->entries) {
        case_.sets.push_back(entry.key + "=" + value_text(entry.value));
      }
    }
  }

  // As it would stand behind --set.
  static std::string value_text(const Value& value) {
    if (value.kind != Value::Kind::kSequence) {
      return value.text;
    }
    std::string text;
    for (const Value& item : value.items) {
      text += (text.empty() ? "" : ", ") + item.text;
    }
    return "[" + text + "]";
  }

  // {verb: {fields}} or {verb: text} as the script's operation.
  Json operation(const Value::Entry& verb, const std::string& path) {
    Json op = {{"op", verb.key}};
    const Value& fields = verb.value;
    if (fields.kind == Value::Kind::kMap) {
      for (const Value::Entry& entry : fields.entries) {
        op[entry.key] = json_of(entry.value);
      }
    } else if (verb.key == "run" && fields.kind == Value::Kind::kScalar) {
      op[fields.text == "idle" ? "until" : "for"] = fields.text;
    } else if (fields.kind != Value::Kind::kNull) {
      add(fields.place, path, "is " + fields.seen() + "; expected the fields of the operation");
    }
    try {
      parse_script_line(op, verb.place.line);
    } catch (const ConfigError& error) {
      for (const Problem& problem : error.problems()) {
        add(verb.place, path + (problem.path.empty() ? "" : "." + problem.path), problem.message);
      }
    }
    return op;
  }

  void read_stimulus() {
    if (document_.find("stimulus") == nullptr) {
      add(document_.place, "stimulus", "is missing; expected a list of steps");
      return;
    }
    const Value* stimulus = value_of(document_, "stimulus", "", Value::Kind::kSequence);
    for (std::size_t i = 0; stimulus != nullptr && i < stimulus->items.size(); ++i) {
      read_step(stimulus->items[i], fmt::format("stimulus[{}]", i));
    }
  }

  void read_step(const Value& item, const std::string& path) {
    Step step;
    step.place = item.place;
    unsigned verbs = 0;
    for (const Value::Entry& entry : item.entries) {
      if (entry.key == "at") {
        const auto at = config::read_quantity(entry.value.text, config::time_dimension());
        if (!at.value) {
          add(entry.value.place, path + ".at", at.problem);
        }
        step.at = Time{at.value.value_or(0)};
      } else {
        ++verbs;
        step.op = operation(entry, path + "." + entry.key);
      }
    }
    if (verbs != 1) {
      add(item.place, path,
          fmt::format("has {} operations; expected one, such as {{run: idle}}, and perhaps at",
                      verbs));
      return;
    }
    case_.steps.push_back(std::move(step));
  }

  void read_expect() {
    const Value* expect = value_of(document_, "expect", "", Value::Kind::kSequence);
    for (std::size_t i = 0; expect != nullptr && i < expect->items.size(); ++i) {
      const Value& item = expect->items[i];
      const std::string path = fmt::format("expect[{}]", i);
      const Value::Entry* group = item.find("any_order");
      if (group == nullptr) {
        case_.expect.push_back({{EventPattern::read(item, path, problems_)}});
        continue;
      }
      Expectation expectation;
      if (group->value.items.empty()) {
        add(group->value.place, path + ".any_order",
            "is " + group->value.seen() + "; expected a list of events");
      }
      for (const Value& member : group->value.items) {
        expectation.any_order.push_back(EventPattern::read(member, path + ".any_order", problems_));
      }
      case_.expect.push_back(std::move(expectation));
    }
  }

  void read_never() {
    if (const Value* never = value_of(document_, "never", "", Value::Kind::kSequence)) {
      for (std::size_t i = 0; i < never->items.size(); ++i) {
        case_.never.push_back(
            EventPattern::read(never->items[i], fmt::format("never[{}]", i), problems_));
      }
    }
  }

  void read_final() {
    const Value* final = value_of(document_, "final", "", Value::Kind::kMap);
    if (final == nullptr) {
      return;
    }
    check_keys(*final, "final.", kFinalKeys);
    if (const Value* memory = value_of(*final, "memory", "final.", Value::Kind::kMap)) {
      for (const Value::Entry& entry : memory->entries) {
        read_memory(entry);
      }
    }
    if (const Value* counters = value_of(*final, "counters", "final.", Value::Kind::kMap)) {
      for (const Value::Entry& entry : counters->entries) {
        FinalCheck check{entry.place, {{"op", "result"}, {"path", entry.key}}, {}};
        check.expected.place = entry.place;
        check.expected.fields.push_back({"event", word("result")});
        check.expected.fields.push_back(
            {"value", read_figure(entry.value, "final.counters." + entry.key, problems_)});
        case_.final_checks.push_back(std::move(check));
      }
    }
    if (const Value* handles = value_of(*final, "handles", "final.", Value::Kind::kSequence)) {
      for (const Value& item : handles->items) {
        read_handle(item);
      }
    }
    if (const Value* answers = value_of(*final, "answers", "final.", Value::Kind::kSequence)) {
      for (const Value& item : answers->items) {
        read_answer(item);
      }
    }
  }

  // A test for a word of the event language itself.
  ValueTest word(const std::string& text) {
    Value value;
    value.kind = Value::Kind::kScalar;
    value.text = text;
    return ValueTest::read(value, "", problems_);
  }

  void read_memory(const Value::Entry& entry) {
    FinalCheck check;
    check.place = entry.place;
    check.op = {{"op", "peek"}, {"addr", entry.key}, {"bytes", entry.value.text.size() / 2}};
    check.expected.place = entry.place;
    check.expected.fields.push_back({"event", word("memory")});
    check.expected.fields.push_back(
        {"hex", ValueTest::read(entry.value, "final.memory." + entry.key, problems_)});
    if (entry.value.text.empty() || entry.value.text.size() % 2 != 0) {
      add(entry.value.place, "final.memory." + entry.key,
          "is " + entry.value.seen() + "; expected hexadecimal digits in pairs");
    }
    case_.final_checks.push_back(std::move(check));
  }

  void read_handle(const Value& item) {
    FinalCheck check;
    check.place = item.place;
    check.op = {{"op", "handle"}};
    check.expected.place = item.place;
    check.expected.fields.push_back({"event", word("handle")});
    for (const Value::Entry& entry : item.entries) {
      if (entry.key == "end" || entry.key == "port" || entry.key == "dhi") {
        check.op[entry.key] = entry.value.text;
      } else {
        check.expected.fields.push_back(
            {entry.key, ValueTest::read(entry.value, "final.handles." + entry.key, problems_)});
      }
    }
    case_.final_checks.push_back(std::move(check));
  }

  void read_answer(const Value& item) {
    FinalCheck check;
    check.place = item.place;
    unsigned verbs = 0;
    for (const Value::Entry& entry : item.entries) {
      if (entry.key == "gives") {
        check.expected = EventPattern::read(entry.value, "final.answers.gives", problems_);
      } else {
        ++verbs;
        check.op = operation(entry, "final.answers." + entry.key);
      }
    }
    if (verbs != 1 || check.expected.fields.empty()) {
      add(item.place, "final.answers",
          "expected one operation and what it gives, such as {peek: {addr: 0}, gives: {hex: 00}}");
      return;
    }
    case_.final_checks.push_back(std::move(check));
  }

  void read_same_as() {
    const Value::Entry* same = document_.find("same_as");
    if (same == nullptr) {
      return;
    }
    const Value::Entry* id = same->value.find("case");
    const Value::Entry* events = same->value.find("events");
    if (id == nullptr || events == nullptr || events->value.items.empty()) {
      add(same->value.place, "same_as", "expected case (an id) and events (a list of patterns)");
      return;
    }
    case_.same_as = id->value.text;
    for (const Value& item : events->value.items) {
      case_.same_events.push_back(EventPattern::read(item, "same_as.events", problems_));
    }
  }

  const Value& document_;
  config::ProblemList& problems_;
  Case case_;
};

}  // namespace

std::vector<Case> cases_from_text(const std::string& yaml, const std::string& name) {
  config::ProblemList problems;
  const Value document = config::parse_yaml(yaml, {name, 1, 1, 0}, problems);
  std::vector<Case> cases;
  if (document.kind != Value::Kind::kMap) {
    if (problems.empty()) {  // else the text is no YAML, and that has been said
      problems.add(document.place, "", "is " + document.seen() + "; expected the keys of a case");
    }
  } else {
    check_uses(document, problems);
    for (const Variant& variant : variants_of(document, problems)) {
      const Value text = filled(document, variant.values, problems);
      cases.push_back(Reader(text, problems).read(variant.name));
    }
    check_references(document, cases, problems);
  }
  if (!problems.empty()) {
    throw ConfigError(problems.sorted());
  }
  return cases;
}

std::vector<Case> read_cases(const std::string& file) {
  std::ifstream in(file);
  if (!in) {
    throw ConfigError({{file, 0, 0, "", "cannot be read; expected a case file"}});
  }
  std::ostringstream text;
  text << in.rdbuf();
  return cases_from_text(text.str(), file);
}

}  // namespace flitwise::scenario
