// SPDX-License-Identifier: Apache-2.0
// Judging the events of a run.
#include "scenario/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise::scenario {
namespace {

constexpr std::size_t kAround = 3;  // events shown on each side
constexpr std::size_t kShown = 64;  // digits of a payload

// Long payloads would bury what matters.
std::string shown(const std::string& text) {
  return text.size() <= kShown
             ? text
             : fmt::format("{}... ({} digits)", text.substr(0, kShown), text.size());
}

/// Searches one log.
class Judge {
 public:
  explicit Judge(const EventLog& log) : log_(log) {}

  std::vector<Failure> failures;

  // Each pattern finds an event of its own behind the last expectation's.
  void expect(const Expectation& expectation) {
    std::size_t furthest = next_;
    std::vector<std::size_t> taken;
    for (const EventPattern& pattern : expectation.any_order) {
      if (pattern.count) {
        expect_count(pattern, *pattern.count);
        continue;
      }
      std::size_t at = next_;
      while (at < log_.size() && (std::find(taken.begin(), taken.end(), at) != taken.end() ||
                                  !pattern.matches(log_[at], previous_ns_))) {
        ++at;
      }
      if (at == log_.size()) {
        miss(pattern);
        continue;
      }
      taken.push_back(at);
      furthest = std::max(furthest, at + 1);
    }
    if (furthest > next_) {
      previous_ns_ = log_[furthest - 1].value("t_ns", 0.0);
    }
    next_ = furthest;
  }

  void forbid(const EventPattern& pattern) {
    for (std::size_t at = 0; at < log_.size(); ++at) {
      if (pattern.matches(log_[at])) {
        failures.push_back(
            {pattern.place, "never " + pattern.text(), line_of(log_[at]), around(at)});
        return;
      }
    }
  }

 private:
  void expect_count(const EventPattern& pattern, const ValueTest& count) {
    const auto seen = std::count_if(log_.begin(), log_.end(),
                                    [&](const Json& event) { return pattern.matches(event); });
    if (!count.holds(seen)) {
      failures.push_back({pattern.place, pattern.text(), fmt::format("{} times", seen), {}});
    }
  }

  void miss(const EventPattern& pattern) {
    std::size_t best = log_.size();
    std::size_t agreement = 0;
    for (std::size_t at = 0; at < log_.size(); ++at) {
      const std::size_t here = pattern.agreement(log_[at]);
      // Of equals, one that could still have been taken.
      if (here > agreement || (here == agreement && here > 0 && best < next_)) {
        best = at;
        agreement = here;
      }
    }
    std::string seen = "nothing of the kind";
    if (best < log_.size()) {
      const bool is_whole = agreement == pattern.fields.size();
      seen = line_of(log_[best]) +
             (is_whole && best < next_ ? "  (before what is expected before it)" : "");
    }
    failures.push_back({pattern.place, pattern.text(), seen,
                        around(best < log_.size() ? best : std::min(next_, log_.size()))});
  }

  std::vector<std::string> around(std::size_t at) const {
    std::vector<std::string> lines;
    const std::size_t first = at > kAround ? at - kAround : 0;
    for (std::size_t i = first; i < std::min(at + kAround + 1, log_.size()); ++i) {
      lines.push_back((i == at ? "> " : "  ") + line_of(log_[i]));
    }
    return lines;
  }

  const EventLog& log_;
  std::size_t next_ = 0;    // first event that the next expectation may take
  double previous_ns_ = 0;  // when the one before was
};

// What is wrong in every case that does not ask for it.
constexpr const char* kAlwaysWrong[] = {"violation", "check", "deadlock", "missed_fault"};

bool asks_for(const Case& one, const std::string& event) {
  const auto asks = [&](const EventPattern& pattern) {
    return std::any_of(pattern.fields.begin(), pattern.fields.end(),
                       [&](const EventPattern::Field& field) {
                         return field.name == "event" && field.test.text() == event;
                       });
  };
  return std::any_of(one.expect.begin(), one.expect.end(), [&](const Expectation& expectation) {
    return std::any_of(expectation.any_order.begin(), expectation.any_order.end(), asks);
  });
}

// Every rule, check or step once, with how often.
void tell_of_each(const Case& one, const std::string& wrong, const EventLog& log,
                  std::vector<Failure>& failures) {
  std::vector<std::pair<Json, unsigned>> first;  // and how many more
  for (const Json& event : log) {
    const bool is_told = std::any_of(one.never.begin(), one.never.end(),
                                     [&](const auto& pattern) { return pattern.matches(event); });
    if (event.value("event", "") != wrong || is_told) {
      continue;
    }
    const auto same = std::find_if(first.begin(), first.end(), [&](const auto& other) {
      const auto agrees = [&](const char* field) {
        return event.value(field, Json()) == other.first.value(field, Json());
      };
      return agrees("rule") && agrees("name") && agrees("line");
    });
    if (same == first.end()) {
      first.emplace_back(event, 0);
    } else {
      ++same->second;
    }
  }
  for (const auto& [event, more] : first) {
    config::Place place = one.place;
    if (event.contains("line")) {  // of the step that is to blame
      place.line = event["line"].get<int>();
    }
    failures.push_back({place,
                        "no " + wrong,
                        line_of(event) + (more == 0 ? "" : fmt::format("  (and {} more)", more)),
                        {}});
  }
}

}  // namespace

std::vector<Failure> judge(const Case& one, const EventLog& log) {
  Judge judge(log);
  for (const Expectation& expectation : one.expect) {
    judge.expect(expectation);
  }
  for (const EventPattern& pattern : one.never) {
    judge.forbid(pattern);
  }
  for (const char* const wrong : kAlwaysWrong) {
    if (!asks_for(one, wrong)) {
      tell_of_each(one, wrong, log, judge.failures);
    }
  }
  return std::move(judge.failures);
}

std::vector<Failure> judge_final(const FinalCheck& check, const EventLog& answer) {
  const bool holds = std::any_of(answer.begin(), answer.end(),
                                 [&](const Json& event) { return check.expected.matches(event); });
  if (holds) {
    return {};
  }
  std::string seen;
  for (const Json& event : answer) {
    seen += (seen.empty() ? "" : "; ") + line_of(event);
  }
  return {
      {check.place, "at the end " + check.expected.text(), seen.empty() ? "nothing" : seen, {}}};
}

std::string line_of(const Json& event) {
  std::string line =
      fmt::format("{:>10.1f} ns  {}", event.value("t_ns", 0.0), event.value("event", "?"));
  for (const auto& [key, value] : event.items()) {
    if (key != "t_ns" && key != "event") {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      line += " " + key + "=" + (key == "hex" || key == "payload" ? shown(text) : text);
    }
  }
  return line;
}

}  // namespace flitwise::scenario
