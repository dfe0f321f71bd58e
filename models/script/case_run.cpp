// SPDX-License-Identifier: Apache-2.0
// One corner case from its first step to its verdict.
#include <algorithm>

#include "flitwise/error.h"
#include "scenario/vocabulary.h"
#include "script/script.h"
#include "script/script_line.h"
#include "script/script_session.h"

namespace flitwise {
namespace {

using scenario::Case;
using scenario::EventLog;
using scenario::FinalCheck;

// The events of the log that the patterns mean, without their times: what two cases may have in
// common.
std::vector<std::string> timeless(const std::vector<scenario::EventPattern>& patterns,
                                  const EventLog& log) {
  std::vector<std::string> lines;
  for (Json event : log) {
    for (const scenario::EventPattern& pattern : patterns) {
      if (pattern.matches(event)) {
        event.erase("t_ns");
        event.erase("at_ns");
        lines.push_back(event.dump());
        break;
      }
    }
  }
  return lines;
}

class CaseRun {
 public:
  CaseRun(const Case& one, const Config& config)
      : case_(one),
        output_([this](const Json& event) { note(event); }),
        session_(config, one.boots, true, output_) {
    output_.show_commits();
  }

  CaseOutcome run(const std::vector<scenario::EventPattern>& same_events) {
    CaseOutcome outcome;
    try {
      for (const scenario::Step& step : case_.steps) {
        if (!try_step(step)) {
          outcome.failures.push_back({step.place,
                                      "a step that can be done",
                                      log_.empty() ? "nothing" : scenario::line_of(log_.back()),
                                      {}});
        }
      }
      session_.run_until_idle();
    } catch (const SimulationError& error) {
      note({{"event", "deadlock"}, {"detail", error.what()}});
    }
    session_.tell_missed_faults();
    note_checks();
    const std::vector<scenario::Failure> judged = scenario::judge(case_, log_);
    outcome.failures.insert(outcome.failures.end(), judged.begin(), judged.end());
    outcome.same_events = timeless(same_events, log_);
    for (const FinalCheck& check : case_.final_checks) {
      const std::vector<scenario::Failure> wrong = judge(check);
      outcome.failures.insert(outcome.failures.end(), wrong.begin(), wrong.end());
    }
    outcome.events = std::move(log_);
    return outcome;
  }

 private:
  // A later step may set going again what nothing moves any more.
  bool try_step(const scenario::Step& step) {
    try {
      session_.wait_until(step.at.value_or(Time{}));
      return execute(step.op, step.place.line);
    } catch (const DeadlockError& error) {
      note({{"event", "deadlock"}, {"detail", error.what()}});
      return true;
    }
  }

  void note(const Json& event) {
    if (!event.contains("event")) {
      return;  // an operation is done
    }
    Json timed = {{"event", event["event"]}, {"t_ns", output_.elapsed().ns()}};
    timed.update(event);
    log_.push_back(std::move(timed));
    check_words(event);
  }

  // Patterns may name the fields and kinds of some lists alone: all others would never be seen.
  void check_words(const Json& event) {
    const std::string kind = event["event"] == "error" ? event.value("kind", "") : "malformed_tlp";
    if (!scenario::is_error_kind(kind)) {
      note_unlisted("every kind of error is in the list of kinds", kind);
    }
    const std::string name = event["event"].get<std::string>();
    const std::vector<std::string>& fields = scenario::event_fields(name);
    for (const auto& item : event.items()) {
      if (!std::binary_search(fields.begin(), fields.end(), item.key())) {
        note_unlisted("every field of an event is in the list of its fields",
                      name + " " + item.key());
      }
    }
  }

  void note_unlisted(const char* check, const std::string& word) {
    log_.push_back(
        {{"event", "check"}, {"t_ns", output_.elapsed().ns()}, {"name", check}, {"detail", word}});
  }

  bool execute(const Json& op, int line) {
    const std::uint32_t token = output_.begin(nullptr, line);
    return session_.execute(parse_script_line(op, line), token);
  }

  // Broken invariants are events, so that a case can expect one that it broke.
  void note_checks() {
    const RunResult result = session_.result();
    for (const CheckResult& check : result.checks) {
      if (!check.ok) {
        note({{"event", "check"}, {"name", check.name}, {"detail", check.detail}});
      }
    }
    for (const auto& [kind, count] : result.errors) {
      if (!scenario::is_counted_error(kind)) {
        note_unlisted("every kind of error that is counted is in the list of kinds", kind);
      }
    }
  }

  std::vector<scenario::Failure> judge(const FinalCheck& check) {
    const std::size_t before = log_.size();
    execute(check.op, check.place.line);
    const EventLog answer(log_.begin() + static_cast<std::ptrdiff_t>(before), log_.end());
    log_.resize(before);
    return scenario::judge_final(check, answer);
  }

  const Case& case_;
  EventLog log_;
  ScriptOutput output_;
  ScriptSession session_;
};

}  // namespace

CaseOutcome run_case(const Case& one, const std::vector<scenario::EventPattern>& same_events,
                     const Config& config) {
  return CaseRun(one, config).run(same_events);
}

}  // namespace flitwise
