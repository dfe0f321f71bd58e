// SPDX-License-Identifier: Apache-2.0
// A machine driven line by line; one corner case from its first step to its verdict.
#include "script/script.h"

#include <fmt/format.h>

#include <boost/range/algorithm_ext/push_back.hpp>

#include <algorithm>
#include <istream>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "codec/json_value.h"
#include "common/input_file.h"
#include "flitwise/error.h"
#include "scenario/event_words.h"
#include "script/script_line.h"
#include "script/script_session.h"

namespace flitwise {
namespace {

constexpr int kGood = 0;
constexpr int kBadLines = 2;
constexpr const char* kHasNul = "has a NUL character; expected one line of text";

// What the reader of JSON lets pass: text behind a NUL, and of a key given twice either one.
std::string flaw_of_line(const std::string& text, const Json& read) {
  if (text.find('\0') != std::string::npos) {
    return kHasNul;
  }
  std::string twice;
  std::vector<std::set<std::string>> keys;  // of each object around
  const auto note = [&](int /*depth*/, Json::parse_event_t event, const Json& word) {
    if (event == Json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Json::parse_event_t::key && !keys.back().insert(word).second) {
      twice = word;
    }
    return true;
  };
  if (!read.is_discarded()) {
    [[maybe_unused]] const Json again = Json::parse(text, note, false);
  }
  return twice.empty() ? "" : "has '" + twice + "' twice; expected each key once";
}

class Script {
 public:
  Script(std::ostream& out, const Config& config)
      : output_([&out](const Json& line) {
          out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
          if (line.contains("done")) {
            out.flush();
          }
        }),
        session_(config, true, false, output_) {}

  void line(const std::string& text, int number) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) {
      return;
    }
    const Json object = json_value::parse(text);
    if (object.is_array() || text[first] == '[') {
      untimed_line(object, text, number);
      return;
    }
    const std::uint32_t token =
        output_.begin(object.is_object() && object.contains("id") ? object["id"] : Json(), number);
    if (const std::string flaw = flaw_of_line(text, object); !flaw.empty()) {
      is_good_ = false;
      output_.bad_value(token, flaw);
    } else {
      execute(object, text, number, token);
    }
    output_.done(token);
  }
  int finish() {
    session_.run_until_idle();
    return is_good_ ? kGood : kBadLines;
  }

 private:
  // Lines of PIO send memory, of RDMA from the one on that sets two ends up, and of an adapter from
  // the one on that sets it up, and likewise of session groups: they write no "done".
  void untimed_line(const Json& array, const std::string& text, int number) {
    const std::string flaw =
        text.find('\0') != std::string::npos ? kHasNul
        : array.is_discarded()
            ? json_value::flaw_of(text) + "; expected an array such as [\"fill\", 0, 1, 0, false]"
            : "";
    if (!flaw.empty()) {
      is_good_ = false;
      output_.bad_value(output_.begin(Json(), number), flaw);
      return;
    }
    arrays_ = begins_rdma(array)    ? Arrays::kRdma
              : begins_hca(array)   ? Arrays::kHca
              : begins_srdma(array) ? Arrays::kSrdma
                                    : arrays_;
    try {
      switch (arrays_) {
        case Arrays::kPio: session_.execute(parse_pio_line(array, number)); break;
        case Arrays::kRdma: session_.execute(parse_rdma_line(array, number)); break;
        case Arrays::kHca: session_.execute(parse_hca_line(array, number)); break;
        case Arrays::kSrdma: session_.execute(parse_srdma_line(array, number)); break;
      }
    } catch (const ConfigError& error) {
      is_good_ = false;
      tell(error, output_.begin(Json(), number));
    }
  }
  void execute(const Json& object, const std::string& text, int number, std::uint32_t token) {
    if (!object.is_object()) {
      is_good_ = false;
      output_.bad_value(token, (object.is_discarded() ? json_value::flaw_of(text)
                                                      : json_value::shown(object) + " seen") +
                                   "; expected an object such as {\"op\": \"run\", \"until\": "
                                   "\"idle\"}");
      return;
    }
    try {
      is_good_ = session_.execute(parse_script_line(object, number), token) && is_good_;
    } catch (const DeadlockError& error) {
      output_.error(token, "no_progress", error.what());  // a later line may set it going again
    } catch (const ConfigError& error) {
      is_good_ = false;
      tell(error, token);
    }
  }
  void tell(const ConfigError& error, std::uint32_t token) {
    for (const Problem& problem : error.problems()) {
      output_.bad_value(
          token, problem.path.empty() ? problem.message : problem.path + ": " + problem.message);
    }
  }

  ScriptOutput output_;
  ScriptSession session_;
  bool is_good_ = true;
  enum class Arrays : std::uint8_t { kPio, kRdma, kHca, kSrdma };
  Arrays arrays_ = Arrays::kPio;  // what they drive
};

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

/// Steps that could not be done: those of a `repeat` once, with how often.
class FailedSteps {
 public:
  void add(const scenario::Step& step, const std::string& seen) {
    const auto at = std::pair(step.place.line, step.place.column);
    const auto [number, is_new] = numbers_.emplace(at, failures_.size());
    if (is_new) {
      const std::string round = step.round.empty() ? "" : ", with " + step.round;
      failures_.push_back({step.place, "a step that can be done" + round, seen, {}});
      more_.push_back(0);
    } else {
      ++more_[number->second];
    }
  }
  std::vector<scenario::Failure> failures() const {
    std::vector<scenario::Failure> all = failures_;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].seen += more_[i] == 0 ? "" : fmt::format("  (and {} more)", more_[i]);
    }
    return all;
  }

 private:
  std::vector<scenario::Failure> failures_;
  std::vector<unsigned> more_;
  std::map<std::pair<int, int>, std::size_t> numbers_;  // of failures, by place
};

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
          failed_.add(step, log_.empty() ? "nothing" : scenario::line_of(log_.back()));
        }
      }
      session_.run_until_idle();
    } catch (const SimulationError& error) {
      note({{"event", "deadlock"}, {"detail", error.what()}});
    }
    outcome.failures = failed_.failures();
    session_.tell_missed_faults();
    note_checks();
    boost::range::push_back(outcome.failures, scenario::judge(case_, log_));
    outcome.same_events = timeless(same_events, log_);
    for (const FinalCheck& check : case_.final_checks) {
      boost::range::push_back(outcome.failures, judge(check));
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
    const bool is_error = event["event"] == "error";
    const std::string kind = is_error ? event.value("kind", "") : "malformed_tlp";
    if (is_error) {
      ++told_[kind];
      ++told_[event.value("detail", "")];
    }
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
      } else if (scenario::is_error_kind(kind) && told_[kind] < count) {
        note_unlisted("every error that is counted is told as an event", kind);
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
  FailedSteps failed_;
  std::map<std::string, std::uint64_t> told_;  // errors, by kind and by detail
  ScriptOutput output_;
  ScriptSession session_;
};

}  // namespace

int script_command(std::istream& in, std::ostream& out, const Config& config) {
  Script script(out, config);
  std::string text;
  for (int number = 1; read_line(in, text, "script", number); ++number) {
    script.line(text, number);
  }
  const int code = script.finish();
  out.flush();
  return code;
}

CaseOutcome run_case(const Case& one, const std::vector<scenario::EventPattern>& same_events,
                     const Config& config) {
  return CaseRun(one, config).run(same_events);
}

}  // namespace flitwise
