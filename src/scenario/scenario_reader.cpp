// SPDX-License-Identifier: Apache-2.0
// Case files become cases.
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "common/input_file.h"
#include "common/quantity.h"
#include "common/ranges.h"
#include "config/sections/sections.h"
#include "flitwise/error.h"
#include "scenario/case_values.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {
namespace {

using config::Value;

const std::vector<std::string> kKeys = {"id",     "title",    "cites",    "config",
                                        "matrix", "variants", "stimulus", "expect",
                                        "never",  "final",    "same_as"};
const std::vector<std::string> kConfigKeys = {"base", "set", "boot"};
const std::vector<std::string> kSameKeys = {"case", "events"};

/// A file with such a key is meant for another command.
std::string hint_of_other_file(const std::string& key) {
  constexpr const char* kSweepKeys[] = {"axes", "blocks", "seeds", "zip"};
  return contains(config::key_tree().child_names(), key)
             ? "; this is a section of a config, which 'flitwise run' takes"
         : contains(kSweepKeys, key)
             ? "; this is a key of a sweep, which 'flitwise sweep run' takes"
             : "";
}

/// Reads one case of one file, its parameters filled in.
class CaseReader {
 public:
  /// rounds: of its steps, as unrolled() tells them.
  CaseReader(const Value& document, const std::vector<std::string>& rounds,
             config::ProblemList& problems)
      : document_(document), rounds_(rounds), spot_{"", problems} {}

  Case read(const std::string& variant) {
    check_keys(document_, spot_, kKeys, hint_of_other_file);
    case_.place = document_.place;
    case_.file = document_.place.file;
    case_.stem = one_line("id");
    case_.id = case_.stem + (variant.empty() ? "" : "/" + variant);
    case_.title = one_line("title");
    read_cites();
    read_config();
    read_stimulus();
    read_expect();
    for_items(document_, "never", spot_, [this](const Value& item, const Spot& at) {
      case_.never.push_back(read_lone_pattern(item, at, "between"));
    });
    check_captures(case_, spot_.problems);
    case_.final_checks = read_final_checks(document_, spot_.problems);
    read_same_as();
    if (case_.expect.empty() && case_.never.empty() && case_.final_checks.empty() &&
        case_.same_as.empty()) {
      spot_.at("expect").add(document_.place, "is missing; expected something that can fail");
    }
    return std::move(case_);
  }

 private:
  // Each case has one line of its own in every list.
  std::string one_line(const std::string& key) {
    const Value::Entry* const entry = document_.find(key);
    if (entry == nullptr) {
      spot_.at(key).add(document_.place, "is missing; expected a text");
      return "";
    }
    if (entry->value.kind != Value::Kind::kScalar) {
      spot_.at(key).add_unexpected(entry->value, "a text");
      return "";
    }
    check_one_line(entry->value.text, entry->value.place, spot_.at(key));
    return entry->value.text;
  }

  void read_cites() {
    const Value::Entry* cites = document_.find("cites");
    if (cites == nullptr || cites->value.kind != Value::Kind::kSequence) {
      spot_.at("cites").add(cites == nullptr ? document_.place : cites->value.place,
                            (cites == nullptr ? "is missing" : "is " + cites->value.seen()) +
                                "; expected a list of rule ids, [] where it proves none");
      return;
    }
    for (const Value& item : cites->value.items) {
      if (item.kind != Value::Kind::kScalar || item.text.empty()) {
        spot_.at("cites").add_unexpected(item, "a rule id");
      }
      case_.cites.push_back(item.text);
    }
  }

  void read_config() {
    const Value* config = value_of(document_, "config", spot_, Value::Kind::kMap);
    if (config == nullptr) {
      return;
    }
    const Spot spot = spot_.at("config");
    check_keys(*config, spot, kConfigKeys);
    if (const Value::Entry* base = config->find("base")) {
      case_.base = base->value.text;
      if (base->value.kind != Value::Kind::kScalar) {
        spot.at("base").add_unexpected(base->value, "the path of one config file");
      }
    }
    if (const Value::Entry* boot = config->find("boot")) {
      case_.boots = boot->value.text == "true";
      check_truth(boot->value, spot.at("boot"));
    }
    if (const Value* set = value_of(*config, "set", spot, Value::Kind::kMap)) {
      for (const Value::Entry& entry : set->entries) {
        read_set(entry);
      }
    }
  }

  void read_set(const Value::Entry& entry) {
    const Value& value = entry.value;
    const Spot spot = spot_.at("config.set." + entry.key);
    const auto is_scalar = [](const Value& one) { return one.kind == Value::Kind::kScalar; };
    if (value.kind == Value::Kind::kMap) {
      spot.add(entry.place,
               "is a map; expected a value or a list of values, such as " + dotted(entry));
    } else if (!is_scalar(value) &&
               !(value.kind == Value::Kind::kSequence && all_of(value.items, is_scalar))) {
      spot.add(entry.place,
               "is " + (value.items.empty() ? value.seen() : "a list of more than values") +
                   "; expected a value or a list of values");
    }
    case_.sets.push_back(entry.key + "=" + value_text(value));
    case_.set_places[case_.sets.back()] = entry.place;
  }

  // The first key inside as it should have been written: "link.mps: 128B".
  static std::string dotted(const Value::Entry& entry) {
    const Value& value = entry.value;
    if (value.kind == Value::Kind::kMap && !value.entries.empty()) {
      Value::Entry inner = value.entries.front();
      inner.key = entry.key + "." + inner.key;
      return dotted(inner);
    }
    return value.kind == Value::Kind::kMap ? "link.mps: 128B"
                                           : entry.key + ": " + value_text(value);
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

  void read_stimulus() {
    if (document_.find("stimulus") == nullptr) {
      spot_.at("stimulus").add(document_.place, "is missing; expected a list of steps");
      return;
    }
    const Value* const list = value_of(document_, "stimulus", spot_, Value::Kind::kSequence);
    std::map<std::pair<int, int>, std::size_t> numbers;  // of steps, by place
    std::set<std::size_t> wrong;
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const Value& item = list->items[i];
      const std::size_t number =
          numbers.emplace(std::pair(item.place.line, item.place.column), numbers.size())
              .first->second;
      if (wrong.count(number) != 0) {
        continue;  // it is repeated, and what is wrong with it has been said
      }
      config::ProblemList problems;
      read_step(item, rounds_[i], {fmt::format("stimulus[{}]", number), problems});
      for (const Problem& problem : problems.sorted()) {
        wrong.insert(number);
        spot_.problems.add({problem.file, problem.line, problem.column, item.place.source},
                           problem.path, problem.message);
      }
    }
  }

  void read_step(const Value& item, const std::string& round, const Spot& spot) {
    Step step;
    step.place = item.place;
    step.round = round;
    unsigned verbs = 0;
    for (const Value::Entry& entry : item.entries) {
      if (entry.key == "at") {
        const auto at = config::read_quantity(entry.value.text, config::time_dimension());
        if (!at.value) {
          spot.at("at").add(entry.value.place, at.problem);
        }
        step.at = Time{at.value.value_or(0)};
      } else {
        ++verbs;
        step.op = read_operation(entry, spot.at(entry.key));
      }
    }
    if (verbs != 1) {
      spot.add(item.place,
               fmt::format("has {} operations; expected one, such as {{run: idle}}, and perhaps at",
                           verbs));
      return;
    }
    case_.steps.push_back(std::move(step));
  }

  void read_expect() {
    for_items(document_, "expect", spot_, [&](const Value& item, const Spot& spot) {
      const Value::Entry* group = item.find("any_order");
      if (group == nullptr) {
        case_.expect.push_back({{read_expected(item, spot)}});
        return;
      }
      check_keys(item, spot, {"any_order"});
      const Spot inside = spot.at("any_order");
      Expectation expectation;
      if (group->value.items.empty()) {
        inside.add_unexpected(group->value, "a list of events");
      }
      for (const Value& member : group->value.items) {
        expectation.any_order.push_back(read_expected(member, inside));
      }
      case_.expect.push_back(std::move(expectation));
    });
  }

  static EventPattern read_expected(const Value& value, const Spot& spot) {
    if (const Value::Entry* const between = value.find("between")) {
      spot.at("between").add(between->place,
                             "has no meaning here; expected it in a pattern of never");
    }
    return EventPattern::read(value, spot);
  }

  void read_same_as() {
    const Value::Entry* same = document_.find("same_as");
    if (same == nullptr) {
      return;
    }
    const Spot spot = spot_.at("same_as");
    check_keys(same->value, spot, kSameKeys);
    const Value::Entry* id = same->value.find("case");
    const Value::Entry* events = same->value.find("events");
    if (id == nullptr || id->value.text.empty() || events == nullptr ||
        events->value.items.empty()) {
      spot.add(same->value.place, "expected case (an id) and events (a list of patterns)");
      return;
    }
    case_.same_as = id->value.text;
    for_items(same->value, "events", spot, [this](const Value& item, const Spot& at) {
      case_.same_events.push_back(read_lone_pattern(item, at));
      refuse_references(case_.same_events.back(), at);
    });
  }

  const Value& document_;
  const std::vector<std::string>& rounds_;
  const Spot spot_;
  Case case_;
};

// `same_as` names a case of the same file, and not the one it stands in.
void check_references(const Value& document, const std::vector<Case>& cases,
                      config::ProblemList& problems) {
  std::vector<std::string> ids;
  for (const Case& one : cases) {
    ids.push_back(one.id);
  }
  for (const Case& one : cases) {
    const bool is_known = contains(ids, one.same_as);
    const bool is_alone = cases.size() == 1 && is_known;  // it could only be compared with itself
    if (!one.same_as.empty() && (!is_known || is_alone)) {
      problems.add(document.find("same_as")->value.place, "same_as.case",
                   is_alone ? "is the case itself: '" + one.same_as + "'; expected another one"
                            : "no case of this file has the id '" + one.same_as + "'" +
                                  config::nearest_hint(one.same_as, ids, "case"));
      return;
    }
  }
}

}  // namespace

std::vector<Case> cases_from_text(const std::string& yaml, const std::string& name) {
  config::ProblemList problems;
  const Value document = config::parse_yaml(yaml, {name, 1, 1, 0}, problems);
  std::vector<Case> cases;
  if (document.kind != Value::Kind::kMap) {
    if (problems.empty()) {  // else the text is no YAML, and that has been said
      problems.add({name, 1, 1, 0}, "", "is " + document.seen() + "; expected the keys of a case");
    }
  } else {
    check_uses(document, problems);
    for (const Variant& variant : variants_of(document, problems)) {
      std::vector<std::string> rounds;
      const Value text =
          filled(unrolled(document, variant.values, rounds, problems), variant.values, problems);
      cases.push_back(CaseReader(text, rounds, problems).read(variant.name));
    }
    check_references(document, cases, problems);
  }
  if (!problems.empty()) {
    throw ConfigError(problems.sorted());
  }
  return cases;
}

std::vector<Case> read_cases(const std::string& file) {
  const std::string yaml = input_text(file, "a case file");
  std::vector<Case> cases = cases_from_text(yaml, file);
  if (!flaw_of_regular_file(file).empty()) {
    const auto text = std::make_shared<const std::string>(yaml);
    for (Case& one : cases) {
      one.only_text = text;
    }
  }
  return cases;
}

}  // namespace flitwise::scenario
