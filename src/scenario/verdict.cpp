// SPDX-License-Identifier: Apache-2.0
// Judging the events of a run, and verdicts as JUnit XML.
#include "scenario/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/ranges.h"

namespace flitwise::scenario {
namespace {

constexpr std::size_t kAround = 3;     // events shown on each side
constexpr std::uint64_t kCounted = 8;  // events of a count

std::vector<std::string> around(const EventLog& log, std::size_t at) {
  std::vector<std::string> lines;
  const std::size_t first = at > kAround ? at - kAround : 0;
  for (std::size_t i = first; i < std::min(at + kAround + 1, log.size()); ++i) {
    lines.push_back((i == at ? "> " : "  ") + line_of(log[i]));
  }
  return lines;
}

/// Searches one log.
class Judge {
 public:
  explicit Judge(const EventLog& log) : log_(log) {}

  std::vector<Failure> failures;

  // Each pattern finds an event of its own behind the last expectation's: all by the earliest event
  // at which that can be.
  void expect(const Expectation& expectation) {
    std::vector<EventPattern> patterns;
    for (const EventPattern& pattern : expectation.any_order) {
      expected_.push_back(pattern.bound(captured_));
      if (pattern.count) {
        expect_count(expected_.back(), *pattern.count);
      } else {
        patterns.push_back(expected_.back());
      }
    }
    std::vector<std::size_t> taken(patterns.size(), log_.size());  // by each pattern
    std::size_t open = patterns.size();
    std::size_t furthest = next_;
    for (std::size_t at = next_; at < log_.size() && open > 0; ++at) {
      std::vector<bool> asked(patterns.size());
      if (give(at, patterns, taken, asked)) {
        --open;
        furthest = at + 1;
      }
    }
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (taken[i] == log_.size()) {
        miss(patterns[i]);
      } else {
        patterns[i].capture(log_[taken[i]], captured_);
      }
    }
    if (furthest > next_) {
      previous_ns_ = log_[furthest - 1].value("t_ns", 0.0);
    }
    next_ = furthest;
  }

  void forbid(const EventPattern& pattern) {
    if (pattern.between.empty()) {
      told_.push_back(pattern.bound(captured_));
      forbid_anywhere(told_.back());
    } else {
      forbid_between(pattern);
    }
  }

  // An expectation names this kind of event and means this one, or it is forbidden by itself.
  bool is_told(const Json& event) const {
    return any_of(told_, [&](const EventPattern& pattern) { return pattern.matches(event); }) ||
           any_of(expected_, [&](const EventPattern& pattern) {
             return pattern.matches(event) &&
                    any_of(pattern.fields, [&](const EventPattern::Field& field) {
                      return field.name == "event" && field.test.text() == event["event"];
                    });
           });
  }

 private:
  // Wherever a span begins, the last included if it never ends; where one ends the next may begin.
  // One that begins within another is a span of its own only where it has values of its own.
  void forbid_between(const EventPattern& pattern) {
    struct Span {
      EventPattern forbidden, last;
    };
    const EventPattern first = pattern.between[0].bound(captured_);
    const EventPattern last_of_any = without_references(pattern.between[1]);
    const EventPattern forbidden_in_any = without_references(pattern);
    std::vector<Span> open;
    bool has_begun = false;
    for (std::size_t at = 0; at < log_.size(); ++at) {
      const Json& event = log_[at];
      if (!open.empty() && last_of_any.matches(event)) {
        const auto ends = [&](const Span& span) { return span.last.matches(event); };
        open.erase(std::remove_if(open.begin(), open.end(), ends), open.end());
      }
      if (!open.empty() && forbidden_in_any.matches(event)) {
        const auto broken =
            find_if(open, [&](const Span& span) { return span.forbidden.matches(event); });
        if (broken != open.end()) {
          fail(broken->forbidden, at);
          return;
        }
      }
      if (first.matches(event) && (open.empty() || !first.captures.empty())) {
        has_begun = true;
        Captures inside = captured_;
        first.capture(event, inside);
        open.push_back({pattern.bound(inside), pattern.between[1].bound(inside)});
      }
    }
    if (!has_begun) {
      miss(first);
    }
  }

  // Matches what the pattern may match, whatever is captured.
  static EventPattern without_references(EventPattern pattern) {
    pattern.references.clear();
    return pattern;
  }

  void fail(const EventPattern& forbidden, std::size_t at) {
    failures.push_back(
        {forbidden.place, "never " + forbidden.text(), line_of(log_[at]), around(log_, at)});
  }

  void forbid_anywhere(const EventPattern& pattern) {
    const auto found = find_if(log_, [&](const Json& event) { return pattern.matches(event); });
    if (found != log_.end()) {
      fail(pattern, static_cast<std::size_t>(found - log_.begin()));
    }
  }

  // The event goes to a pattern without one, perhaps after others have changed theirs: an
  // augmenting path. A pattern that is asked once has said all it can.
  bool give(std::size_t at, const std::vector<EventPattern>& patterns,
            std::vector<std::size_t>& taken, std::vector<bool>& asked) const {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (asked[i] || !patterns[i].matches(log_[at], previous_ns_)) {
        continue;
      }
      asked[i] = true;
      if (taken[i] == log_.size() || give(taken[i], patterns, taken, asked)) {
        taken[i] = at;
        return true;
      }
    }
    return false;
  }

  void expect_count(const EventPattern& pattern, const ValueTest& count) {
    std::uint64_t seen = 0;
    std::vector<std::string> lines;
    for (const Json& event : log_) {
      if (pattern.matches(event) && ++seen <= kCounted) {
        lines.push_back("> " + line_of(event));
      }
    }
    if (count.holds(seen)) {
      return;
    }
    if (seen == 0) {
      const auto [best, agreement] = nearest(pattern);
      lines = agreement == 0 ? lines : around(log_, best);
    } else if (seen > kCounted) {
      lines.push_back(fmt::format("  ... and {} more", seen - kCounted));
    }
    failures.push_back({pattern.place, pattern.text(), fmt::format("{} times", seen), lines});
  }

  // The event of which most is as expected, and how much.
  std::pair<std::size_t, std::size_t> nearest(const EventPattern& pattern) const {
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
    return {best, agreement};
  }

  void miss(const EventPattern& pattern) {
    const std::size_t best = nearest(pattern).first;
    std::string seen = "nothing of the kind";
    if (best < log_.size()) {
      const std::string difference = pattern.difference(log_[best]);
      seen = line_of(log_[best]) + (!difference.empty() ? "  (differs in " + difference + ")"
                                    : best < next_      ? "  (before what is expected before it)"
                                                        : "  (at another time)");
    }
    failures.push_back({pattern.place, pattern.text(), seen,
                        around(log_, best < log_.size() ? best : std::min(next_, log_.size()))});
  }

  const EventLog& log_;
  std::size_t next_ = 0;    // first event that the next expectation may take
  double previous_ns_ = 0;  // when the one before was
  Captures captured_;
  std::vector<EventPattern> expected_, told_;  // with captured values; told_: never, at any time
};

// What is wrong in every case that does not ask for it.
constexpr const char* kAlwaysWrong[] = {"violation", "check", "deadlock", "missed_fault",
                                        "missed_event"};

// Every rule, check or step once, with how often.
void tell_of_each(const config::Place& of_case, const std::string& wrong, const EventLog& log,
                  Judge& judge) {
  std::vector<std::pair<std::size_t, unsigned>> first;  // and how many more
  for (std::size_t at = 0; at < log.size(); ++at) {
    const Json& event = log[at];
    if (event.value("event", "") != wrong || judge.is_told(event)) {
      continue;
    }
    const auto same = find_if(first, [&](const auto& other) {
      const auto agrees = [&](const char* field) {
        return event.value(field, Json()) == log[other.first].value(field, Json());
      };
      return agrees("rule") && agrees("name") && agrees("line");
    });
    if (same == first.end()) {
      first.emplace_back(at, 0);
    } else {
      ++same->second;
    }
  }
  for (const auto& [at, more] : first) {
    const Json& event = log[at];
    config::Place place = of_case;
    if (event.contains("line")) {  // of the step that is to blame
      place.line = event["line"].get<int>();
    }
    judge.failures.push_back(
        {place, "no " + wrong,
         line_of(event) + (more == 0 ? "" : fmt::format("  (and {} more)", more)),
         around(log, at)});
  }
}

constexpr std::pair<char, const char*> kEntities[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto named = find_if(kEntities, [c](const auto& entity) { return entity.first == c; });
    if (named != std::end(kEntities)) {
      result += named->second;
    } else {
      result += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return result;
}

// What stands in lists of failures: the first line, which says what was expected.
std::string headline(const std::string& failure) {
  const std::size_t first = std::min(failure.find_first_not_of(' '), failure.size());
  return failure.substr(first, failure.find('\n', first) - first);
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
    tell_of_each(one.place, wrong, log, judge);
  }
  return std::move(judge.failures);
}

std::vector<Failure> judge_final(const FinalCheck& check, const EventLog& answer) {
  const bool holds =
      any_of(answer, [&](const Json& event) { return check.expected.matches(event); });
  if (holds) {
    return {};
  }
  std::string seen;
  for (const Json& event : answer) {
    seen += (seen.empty() ? "" : "; ") + line_of(event);
  }
  std::string asked;
  for (const auto& item : check.op.items()) {
    asked += (asked.empty() ? "" : " " + item.key() + "=") + value_text(check.op, item.key());
  }
  return {{check.place,
           fmt::format("at the end {} gives {}", asked, check.expected.text()),
           seen.empty() ? "nothing" : seen,
           {}}};
}

std::string line_of(const Json& event) {
  std::string line =
      fmt::format("{:>10.1f} ns  {}", event.value("t_ns", 0.0), event.value("event", "?"));
  for (const auto& item : event.items()) {
    const std::string& key = item.key();
    if (key != "t_ns" && key != "event") {
      line += " " + key + "=" + value_text(event, key);
    }
  }
  return line;
}

std::string junit_xml(const std::vector<CaseReport>& reports) {
  double seconds = 0;
  for (const CaseReport& report : reports) {
    seconds += report.seconds;
  }
  const auto errors = std::count_if(reports.begin(), reports.end(),
                                    [](const CaseReport& report) { return report.is_error; });
  const auto failed = std::count_if(reports.begin(), reports.end(), [](const CaseReport& report) {
    return !report.failure.empty() && !report.is_error;
  });
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"flitwise conform\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "time=\"{:.3f}\">\n",
      reports.size(), failed, errors, seconds);
  for (const CaseReport& report : reports) {
    const std::string family =
        report.is_error ? "case file" : report.id.substr(0, report.id.find('/'));
    xml += fmt::format("  <testcase classname=\"{}\" name=\"{}: {}\" time=\"{:.3f}\"",
                       escaped(family), escaped(report.id), escaped(report.title), report.seconds);
    if (report.failure.empty()) {
      xml += "/>\n";
    } else {
      xml += fmt::format(">\n    <{0} message=\"{1}\">{2}</{0}>\n  </testcase>\n",
                         report.is_error ? "error" : "failure", escaped(headline(report.failure)),
                         escaped(report.failure));
    }
  }
  return xml + "</testsuite>\n";
}

}  // namespace flitwise::scenario
