// SPDX-License-Identifier: Apache-2.0
// Checks at the end of a run.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "common/quantity.h"
#include "flitwise/config.h"
#include "scenario/case_values.h"
#include "scenario/event_words.h"
#include "script/script_line.h"
#include "topology/graph.h"

namespace flitwise::scenario {
namespace {

using config::Value;

const std::vector<std::string> kFinalKeys = {"memory", "counters", "handles", "faults", "answers"};
const std::vector<std::string> kHandleKeys = {"end", "port", "dhi"};  // which entry is looked at
const std::vector<std::string> kFaultFields = {"taken", "code", "rid",        "pasid",
                                               "addr",  "type", "privileged", "execute"};
const std::vector<std::string> kHandleFields = {"valid", "bdf", "pasid", "context"};

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
    const std::string path = "." + entry.key + ".";
    if (path.find("..") != std::string::npos) {
      spot.add(entry.place,
               "has an empty part; expected a path of result.json such as links.0.up.replays");
    }
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

// Of links.7.up.tlps: 7.
std::optional<std::uint64_t> link_in(const std::string& path) {
  const std::string front = "links.";
  const std::size_t dot = path.find('.', front.size());
  if (path.rfind(front, 0) != 0 || dot == std::string::npos) {
    return std::nullopt;
  }
  return config::read_whole(path.substr(front.size(), dot - front.size())).value;
}

}  // namespace

std::vector<Problem> final_problems(const Case& one, const Config& config) {
  const Graph graph(config.system);
  const std::size_t links = graph.all().size() - graph.root_ports().size();
  std::vector<Problem> problems;
  for (const FinalCheck& check : one.final_checks) {
    const auto add = [&](const std::string& path, const std::string& message) {
      problems.push_back({one.file, check.place.line, check.place.column, path, message});
    };
    const ScriptLine line = parse_script_line(check.op, check.place.line);
    const std::string& event = check.expected.fields.front().test.text();
    const auto* const peek = std::get_if<PeekOp>(&line.op);
    const auto* const result = std::get_if<ResultOp>(&line.op);
    const std::uint64_t memory = config.host.memory.size;
    if (peek != nullptr && event == "memory" && config.instances.empty() &&
        (peek->address >= memory || peek->bytes > memory - peek->address)) {
      add("final.memory", fmt::format("{:#x} is outside of host memory; expected {} bytes below "
                                      "{:#x} (host.memory.size)",
                                      peek->address, peek->bytes, memory));
    } else if (result != nullptr && event == "result" && link_in(result->path) >= links) {
      add("final.counters", fmt::format("no link {} in this machine; expected links.0 to links.{}",
                                        *link_in(result->path), links - 1));
    }
  }
  return problems;
}

std::vector<FinalCheck> read_final_checks(const Value& document, config::ProblemList& problems) {
  const Value* const final = value_of(document, "final", {"", problems}, Value::Kind::kMap);
  return final == nullptr ? std::vector<FinalCheck>{} : FinalReader(problems).read(*final);
}

}  // namespace flitwise::scenario
