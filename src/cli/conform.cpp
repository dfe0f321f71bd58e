// SPDX-License-Identifier: Apache-2.0
// Corner cases in child processes, and campaigns of random ones.
#include "cli/conform.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "cli/commands.h"
#include "common/atomic_file.h"
#include "common/child_process.h"
#include "common/embedded.h"
#include "common/interrupt.h"
#include "common/ranges.h"
#include "config/load.h"
#include "flitwise/error.h"
#include "scenario/campaign.h"
#include "script/script.h"
#include "system/kernel.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;
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
  const std::string base = one.base.front() == '/' ? one.base : folder + one.base;
  Config config = load_config(base, options);
  refuse_packets(config, base, "a case");
  return config;
}

std::string text_of(const Failure& failure) {
  return fmt::format(
      "      {}:{}:{}: expected {}\n      seen: {}\n{}", failure.place.file, failure.place.line,
      failure.place.column, failure.expected, failure.seen,
      sum_of(failure.around, [](const std::string& line) { return "        " + line + "\n"; }));
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
  Json said = {{"failure", sum_of(outcome.failures, text_of)},
               {"same_events", outcome.same_events}};
  if (task.tells_events) {
    Json& events = said["events"] = Json::array();
    for (const Json& event : outcome.events) {
      events.push_back(event.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  fmt::print("{}\n", said.dump(-1, ' ', false, Json::error_handler_t::replace));
  return kOk;
}

std::vector<Problem> config_problems(const std::vector<Case>& cases) {
  std::vector<Problem> problems;
  for (const Case& one : cases) {
    try {
      const auto found = scenario::final_problems(one, config_of(one));
      problems.insert(problems.end(), found.begin(), found.end());
    } catch (const ConfigError& error) {
      for (const Problem& problem : error.problems()) {
        problems.push_back(at_setting(problem, one));
      }
    }
  }
  return problems;
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

namespace {

constexpr unsigned kShrinkBudget = 120;    // runs of one failing case
constexpr unsigned kLaterBudget = 40;      // of one that fails as an earlier one does
constexpr std::uint64_t kTellEvery = 100;  // seeds
constexpr std::size_t kShown = 160;        // characters of a reason

/// Throws OutputError where the folder cannot be made: the campaign would work in vain.
void check_folder(const std::string& folder) {
  std::error_code ignored;
  fs::path there = fs::absolute(folder);
  while (!fs::exists(there, ignored) && there.has_relative_path()) {
    there = there.parent_path();
  }
  const bool is_folder = fs::is_directory(there, ignored);
  if (!is_folder || access(there.c_str(), W_OK | X_OK) != 0) {
    throw OutputError(fmt::format("{}: {} {}; expected a folder that can be written to", folder,
                                  there.string(),
                                  is_folder ? "may not be written to" : "is no folder"));
  }
}

/// A folder for the files that child processes read; gone with this object.
class Workplace {
 public:
  Workplace() {
    std::string name = (fs::temp_directory_path() / "flitwise-campaign-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    folder_ = name;
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  /// What is wrong with the case, or nothing; it may take so many seconds.
  std::string failure(Case one, unsigned seconds) const {
    static std::atomic<unsigned> files{0};
    one.file = (folder_ / fmt::format("{}.yaml", files++)).string();
    write_file_atomically(one.file, scenario::yaml_of(one));
    const std::string failure = verdict_of(one, {seconds, false}).failure;
    fs::remove(one.file);
    return failure;
  }

 private:
  fs::path folder_;
};

/// Works through the seeds; its members are shared by all workers.
class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_(options) {}

  int run() {
    check_folder(options_.folder);
    watch_for_interrupt();
    const auto problems =
        config_problems({scenario::campaign_case(options_.first_seed, options_.sets)});
    if (!problems.empty()) {
      throw ConfigError(problems);
    }
    ProcessPool(options_.seeds, options_.jobs)
        .run([this](std::uint64_t i) { return work(options_.first_seed + i); },
             ProcessPool::Order::kAsTheyEnd, [this](std::uint64_t /*i*/) { count(); });
    if (is_interrupted()) {
      fmt::print(stderr, "flitwise: interrupted after {} of {} seeds\n", done_, options_.seeds);
    }
    fmt::print("{} seeds, {} failed\n", done_, failed_.load());
    return is_interrupted() ? kInterrupted : failed_ == 0 ? kOk : kCheckFailed;
  }

 private:
  bool work(std::uint64_t seed) {
    const Case one = scenario::campaign_case(seed, options_.sets);
    const auto start = std::chrono::steady_clock::now();
    const std::string failure = workplace_.failure(one, kCaseSeconds);
    if (is_interrupted()) {
      return false;  // the child was ended
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (!failure.empty()) {
      ++failed_;
      report(seed, one, failure, 2 + static_cast<unsigned>(taken.count()));
    }
    return true;
  }

  void count() {
    if (++done_ % kTellEvery == 0) {
      fmt::print(stderr, "{} of {} seeds, {} failed\n", done_, options_.seeds, failed_.load());
    }
  }

  // Each is made small, unless each try would take as long as a case may; in fewer tries where one
  // of its kind has been made small already.
  void report(std::uint64_t seed, const Case& one, const std::string& failure, unsigned seconds) {
    const std::string kind = scenario::kind_of(failure);
    std::uint64_t first = seed;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      first = first_of_kind_.emplace(kind, seed).first->second;
    }
    const auto fails = [&](const Case& less) {
      return !is_interrupted() && scenario::kind_of(workplace_.failure(less, seconds)) == kind;
    };
    const unsigned budget = first == seed ? kShrinkBudget : kLaterBudget;
    const Case small =
        scenario::is_quick(kind) ? scenario::shrunk(one, fails, budget, options_.sets) : one;
    const std::string file = fmt::format("{}/seed-{}.yaml", options_.folder, seed);
    const std::string what =
        first == seed ? scenario::line_from(failure, "seen: ") : fmt::format("as seed {}", first);
    const std::lock_guard<std::mutex> lock(mutex_);
    write_file_atomically(file, scenario::yaml_of(small));
    fmt::print("FAIL  seed {}: {}{}{}; {} of {} steps, in {}\n", seed, kind.substr(0, kShown),
               what.empty() ? "" : ", ", what.substr(0, kShown), small.steps.size(),
               one.steps.size(), file);
    std::fflush(stdout);
  }

  const CampaignOptions options_;
  Workplace workplace_;
  std::uint64_t done_ = 0;
  std::atomic<std::uint64_t> failed_{0};
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> first_of_kind_;  // seeds
};

}  // namespace

int run_campaign(const CampaignOptions& options) {
  return Campaign(options).run();
}

}  // namespace flitwise::cli
