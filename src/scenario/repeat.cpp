// SPDX-License-Identifier: Apache-2.0
// Steps of a stimulus that stand there once and happen many times.
#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "scenario/case_values.h"

namespace flitwise::scenario {
namespace {

using config::Value;

constexpr std::size_t kMostSteps = 100'000;  // of one case

/// Copies the steps of one case.
class Unroller {
 public:
  Unroller(config::ProblemList& problems, std::vector<std::string>& rounds)
      : problems_(problems), rounds_(rounds) {}

  void add_all(const Value& list, const Parameters& values, std::vector<Value>& steps,
               const std::string& round = "") {
    for (const Value& item : list.items) {
      if (const Value::Entry* const repeat = item.find("repeat")) {
        check_keys(item, {"stimulus", problems_}, {"repeat"});
        add_repeated(repeat->value, values, steps, round);
      } else if (++count_ <= kMostSteps) {
        steps.push_back(filled(item, values, problems_));
        rounds_.push_back(round);
      }
    }
  }
  bool is_too_long() const { return count_ > kMostSteps; }

 private:
  void add_repeated(const Value& repeat, const Parameters& values, std::vector<Value>& steps,
                    const std::string& round) {
    const Spot spot{"stimulus.repeat", problems_};
    const Value::Entry* const times = repeat.find("times");
    const Value::Entry* const body = repeat.find("steps");
    if (times == nullptr || body == nullptr || body->value.items.empty()) {
      spot.add_unexpected(
          repeat,
          "times and steps, such as {times: 8, as: i, steps: [{poke: {addr: \"${i}\", "
          "u8: 1}}]}");
      return;
    }
    check_keys(repeat, spot, {"times", "as", "steps"});
    const std::size_t known = problems_.size();
    const std::size_t before = steps.size();
    const std::string name = counter_of(repeat, body->value, values, spot);
    const std::size_t most = times_of(times->value, values, spot.at("times"));
    Parameters inside = values;
    // What is wrong in one round is wrong in all of them.
    for (std::size_t i = 0; i < most && !is_too_long() && problems_.size() == known; ++i) {
      std::string here = round;
      if (!name.empty()) {
        inside[name] = std::to_string(i);
        here += fmt::format("{}{} = {}", round.empty() ? "" : ", ", name, i);
      }
      add_all(body->value, inside, steps, here);
    }
    if (problems_.size() != known) {  // steps with holes would be wrong once more
      steps.resize(before);
      rounds_.resize(before);
    }
  }

  // The name that stands for 0, 1, 2, ...; empty where there is none.
  static std::string counter_of(const Value& repeat, const Value& body, const Parameters& values,
                                const Spot& spot) {
    const Value::Entry* const as = repeat.find("as");
    if (as == nullptr) {
      return "";
    }
    const std::string& name = as->value.text;
    if (name.empty() || values.count(name) != 0) {
      spot.at("as").add(as->value.place,
                        "is " + as->value.seen() + "; expected a name that no parameter has");
    } else if (!is_used(name, body)) {
      spot.at("as").add(as->value.place,
                        "is used nowhere; expected ${" + name + "} somewhere in the steps");
    }
    return name;
  }

  std::size_t times_of(const Value& times, const Parameters& values, const Spot& spot) {
    const std::string text = filled(times, values, problems_).text;
    std::size_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size() || number == 0 ||
        number > kMostSteps) {
      spot.add(times.place,
               fmt::format("is '{}'; expected a whole number from 1 to {}", text, kMostSteps));
      return 0;
    }
    return number;
  }

  config::ProblemList& problems_;
  std::vector<std::string>& rounds_;
  std::size_t count_ = 0;
};

}  // namespace

Value unrolled(const Value& document, const Parameters& values, std::vector<std::string>& rounds,
               config::ProblemList& problems) {
  Value result = document;
  for (Value::Entry& entry : result.entries) {
    if (entry.key == "stimulus" && entry.value.kind == Value::Kind::kSequence) {
      Unroller unroller(problems, rounds);
      std::vector<Value> steps;
      unroller.add_all(entry.value, values, steps);
      if (unroller.is_too_long()) {
        problems.add(entry.place, "stimulus",
                     fmt::format("has more than {} steps; expected fewer", kMostSteps));
      }
      entry.value.items = std::move(steps);
    }
  }
  return result;
}

}  // namespace flitwise::scenario
