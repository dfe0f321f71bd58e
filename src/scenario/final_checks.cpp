// SPDX-License-Identifier: Apache-2.0
// Checks at the end of a run.
#include <algorithm>

#include "scenario/case_values.h"

namespace flitwise::scenario {
namespace {

using config::Value;

const std::vector<std::string> kFinalKeys = {"memory", "counters", "handles", "faults", "answers"};
const std::vector<std::string> kHandleKeys = {"end", "port", "dhi"};  // which entry is looked at
const std::vector<std::string> kFaultFields = {"taken", "code", "rid",        "pasid",
                                               "addr",  "type", "privileged", "execute"};
const std::vector<std::string> kHandleFields = {"valid", "bdf", "pasid"};

class FinalReader {
 public:
  explicit FinalReader(config::ProblemList& problems) : spot_{"final", problems} {}

  std::vector<FinalCheck> read(const Value& final) {
    check_keys(final, spot_, kFinalKeys);
    read_map(final, "memory", &FinalReader::read_memory);
    read_map(final, "counters", &FinalReader::read_counter);
    for_items(final, "handles", spot_,
              [this](const Value& item, const Spot& spot) { read_handle(item, spot); });
    for_items(final, "faults", spot_,
              [this](const Value& item, const Spot& spot) { read_fault(item, spot); });
    for_items(final, "answers", spot_,
              [this](const Value& item, const Spot& spot) { read_answer(item, spot); });
    return std::move(checks_);
  }

 private:
  void read_map(const Value& final, const std::string& key,
                void (FinalReader::*read_one)(const Value::Entry&, const Spot&)) {
    if (const Value* map = value_of(final, key, spot_, Value::Kind::kMap)) {
      for (const Value::Entry& entry : map->entries) {
        (this->*read_one)(entry, spot_.at(key).at(entry.key));
      }
    }
  }

  // A check that asks with `op`, and is answered by an event of this name.
  static FinalCheck made(const config::Place& place, Json op, const std::string& event) {
    return {place, std::move(op), EventPattern::of(place, {{"event", event}})};
  }

  void read_memory(const Value::Entry& entry, const Spot& spot) {
    const std::string& hex = entry.value.text;
    FinalCheck check = made(
        entry.place, {{"op", "peek"}, {"addr", entry.key}, {"bytes", hex.size() / 2}}, "memory");
    check.expected.fields.push_back({"hex", ValueTest::read(entry.value, spot)});
    if (hex.empty() || !is_digits(hex)) {
      spot.add_unexpected(entry.value, "hexadecimal digits in pairs");
    } else {
      for (const Problem& problem : problems_of_operation(check.op, entry.place.line)) {
        spot.add(entry.place, problem.message);
      }
    }
    checks_.push_back(std::move(check));
  }

  void read_counter(const Value::Entry& entry, const Spot& spot) {
    const std::string errors = "errors.";
    if (entry.key.rfind(errors, 0) == 0) {
      const std::string kind = entry.key.substr(errors.size());
      if (!is_counted_error(kind)) {
        spot.add(entry.place, "no machine counts such errors" + hint_of_counted_error(kind));
      }
    }
    FinalCheck check = made(entry.place, {{"op", "result"}, {"path", entry.key}}, "result");
    check.expected.fields.push_back({"value", read_figure(entry.value, spot)});
    checks_.push_back(std::move(check));
  }

  void read_handle(const Value& item, const Spot& spot) {
    read_entry(item, spot, "handle", kHandleKeys, kHandleFields,
               "of the entry, such as {end: host, dhi: 3, pasid: 5}");
    check_flags(item, spot, {"valid"});
  }

  void read_fault(const Value& item, const Spot& spot) {
    read_entry(item, spot, "fault_record", {"index"}, kFaultFields,
               "of the record, such as {index: 0, code: 0x59, rid: \"01:00.0\"}");
    check_flags(item, spot, {"taken", "privileged", "execute"});
  }

  static void check_flags(const Value& item, const Spot& spot,
                          const std::vector<std::string>& flags) {
    for (const std::string& flag : flags) {
      if (const Value::Entry* const entry = item.find(flag)) {
        check_truth(entry->value, spot.at(flag));
      }
    }
  }

  // An operation looks at the entry that `keys` name, and an event of the same name has `fields`.
  void read_entry(const Value& item, const Spot& spot, const char* name,
                  const std::vector<std::string>& keys, const std::vector<std::string>& fields,
                  const char* example) {
    FinalCheck check = made(item.place, {{"op", name}}, name);
    std::vector<std::string> known = keys;
    known.insert(known.end(), fields.begin(), fields.end());
    check_keys(item, spot, known);
    for (const Value::Entry& entry : item.entries) {
      if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) {
        check.op[entry.key] = json_of(entry.value);
      } else {
        check.expected.fields.push_back(
            {entry.key, ValueTest::read(entry.value, spot.at(entry.key))});
      }
    }
    for (const Problem& problem : problems_of_operation(check.op, item.place.line)) {
      const Value::Entry* const wrong = item.find(problem.path);
      (problem.path.empty() ? spot : spot.at(problem.path))
          .add(wrong == nullptr ? item.place : wrong->value.place, problem.message);
    }
    if (check.expected.fields.size() == 1) {
      spot.add(item.place,
               "compares nothing; expected " + config::alternatives(fields) + " " + example);
    }
    checks_.push_back(std::move(check));
  }

  void read_answer(const Value& item, const Spot& spot) {
    FinalCheck check;
    check.place = item.place;
    unsigned verbs = 0;
    for (const Value::Entry& entry : item.entries) {
      if (entry.key == "gives") {
        check.expected = read_lone_pattern(entry.value, spot.at("gives"));
        refuse_references(check.expected, spot.at("gives"));
      } else {
        ++verbs;
        check.op = read_operation(entry, spot.at(entry.key));
      }
    }
    if (verbs != 1 || check.expected.fields.empty()) {
      spot.add(item.place,
               "expected one operation and what it gives, such as {peek: {addr: 0}, gives: "
               "{hex: 00}}");
      return;
    }
    checks_.push_back(std::move(check));
  }

  const Spot spot_;
  std::vector<FinalCheck> checks_;
};

}  // namespace

std::vector<FinalCheck> read_final_checks(const Value& document, config::ProblemList& problems) {
  const Value* const final = value_of(document, "final", {"", problems}, Value::Kind::kMap);
  return final == nullptr ? std::vector<FinalCheck>{} : FinalReader(problems).read(*final);
}

}  // namespace flitwise::scenario
