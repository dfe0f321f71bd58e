// SPDX-License-Identifier: Apache-2.0
// Corner cases in child processes.
#include "cli/conform.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "common/child_process.h"
#include "common/embedded.h"
#include "config/load.h"
#include "flitwise/error.h"
#include "scenario/campaign.h"
#include "script/script.h"
#include "system/kernel.h"

namespace flitwise::cli {
namespace {

using scenario::Case;
using scenario::Failure;
using scenario::Json;

Config config_of(const Case& one) {
  LoadOptions options;
  options.sets = one.sets;
  if (one.base.empty()) {
    return config_from_text(embedded::script_config(), "script.yaml", "", options);
  }
  const std::size_t slash = one.file.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : one.file.substr(0, slash + 1);
  return load_config(one.base.front() == '/' ? one.base : folder + one.base, options);
}

std::string text_of(const Failure& failure) {
  std::string text =
      fmt::format("      {}:{}:{}: expected {}\n      seen: {}\n", failure.place.file,
                  failure.place.line, failure.place.column, failure.expected, failure.seen);
  for (const std::string& line : failure.around) {
    text += "        " + line + "\n";
  }
  return text;
}

/// What a child said, or why it said nothing.
struct Said {
  std::string failure;
  Json same_events = Json::array();
  std::vector<std::string> events;
};

// Case `id` of the file that `asker` stands in, seen with the asker's eyes.
Said ask_child(const Case& asker, const std::string& id, const ChildTask& task) {
  std::vector<std::string> words = {
      own_path(), "conform", "--case",          id,
      "--child",  asker.id,  "--child-seconds", std::to_string(task.seconds)};
  if (task.tells_events) {
    words.emplace_back("--child-events");
  }
  if (asker.only_text) {
    words.emplace_back("--child-stdin");
  }
  words.insert(words.end(), {"--", asker.file});
  const ChildOutput output = run_child({words, asker.only_text.get()});
  const Json outcome = Json::parse(output.text, nullptr, false);
  if (!outcome.is_object()) {
    return {scenario::text_of_silence(output.exit_code, task.seconds), Json::array(), {}};
  }
  return {outcome.value("failure", ""), outcome.value("same_events", Json::array()),
          outcome.value("events", std::vector<std::string>{})};
}

// Event by event; empty where there is none.
std::string difference(const Json& own, const Json& other, const std::string& id) {
  if (own.empty()) {
    return fmt::format("      nothing to compare with {}: no event matches same_as.events\n", id);
  }
  for (std::size_t i = 0; i < std::max(own.size(), other.size()); ++i) {
    const std::string here = i < own.size() ? own[i].get<std::string>() : "nothing";
    const std::string there = i < other.size() ? other[i].get<std::string>() : "nothing";
    if (here != there) {
      return fmt::format("      event {} differs from case {}\n      here:  {}\n      there: {}\n",
                         i + 1, id, here, there);
    }
  }
  return "";
}

// At the setting of the case that is wrong, or else at the case.
Problem at_setting(const Problem& problem, const Case& one) {
  const std::string origin = "--set ";
  const std::string set = problem.file.substr(std::min(origin.size(), problem.file.size()));
  const auto found = one.set_places.find(set);
  if (found == one.set_places.end()) {
    return {one.file, one.place.line, one.place.column, "config",
            fmt::format("case {}: {}", one.id, problem.text())};
  }
  return {one.file, found->second.line, found->second.column,
          "config.set." + set.substr(0, set.find('=')),
          fmt::format("case {}: {}{}", one.id, problem.path.empty() ? "" : problem.path + ": ",
                      problem.message)};
}

}  // namespace

int run_as_child(const Case& one, const std::vector<scenario::EventPattern>& same_events,
                 const ChildTask& task) {
  alarm(task.seconds);
  CaseOutcome outcome;
  try {
    const Config config = config_of(one);
    run_in_kernel([&] {
      outcome = run_case(one, same_events, config);
      return kOk;
    });
  } catch (const std::exception& error) {
    outcome.failures.push_back({one.place, "a run", error.what(), {}});
  }
  std::string failure;
  for (const Failure& each : outcome.failures) {
    failure += text_of(each);
  }
  Json said = {{"failure", failure}, {"same_events", outcome.same_events}};
  if (task.tells_events) {
    Json& events = said["events"] = Json::array();
    for (const Json& event : outcome.events) {
      events.push_back(event.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  fmt::print("{}\n", said.dump(-1, ' ', false, Json::error_handler_t::replace));
  return kOk;
}

void check_configs(const std::vector<Case>& cases) {
  std::vector<Problem> problems;
  for (const Case& one : cases) {
    try {
      config_of(one);
    } catch (const ConfigError& error) {
      for (const Problem& problem : error.problems()) {
        problems.push_back(at_setting(problem, one));
      }
    }
  }
  if (!problems.empty()) {
    throw ConfigError(problems);
  }
}

CaseVerdict verdict_of(const Case& one, const ChildTask& task) {
  Said own = ask_child(one, one.id, task);
  if (!own.failure.empty() || one.same_as.empty()) {
    return {own.failure, std::move(own.events)};
  }
  const Said other = ask_child(one, one.same_as, {task.seconds, false});
  return {other.failure.empty() ? difference(own.same_events, other.same_events, one.same_as)
                                : "      the case to compare with fails:\n" + other.failure,
          std::move(own.events)};
}

}  // namespace flitwise::cli
