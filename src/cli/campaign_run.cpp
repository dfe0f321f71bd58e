// SPDX-License-Identifier: Apache-2.0
// Campaigns of random cases.
#include "cli/conform.h"

#include <fmt/format.h>

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
#include "common/interrupt.h"
#include "scenario/campaign.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;
using scenario::Case;

constexpr unsigned kShrinkBudget = 120;    // runs of one failing case
constexpr std::uint64_t kTellEvery = 100;  // seeds
constexpr std::size_t kShown = 160;        // characters of a reason

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
    watch_for_interrupt();
    check_configs({scenario::campaign_case(options_.first_seed, options_.sets)});
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

  // The first seed of each kind is made small, unless each try would take as long as a case may;
  // the others are like it.
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
    const Case small = first == seed && scenario::is_quick(kind)
                           ? scenario::shrunk(one, fails, kShrinkBudget, options_.sets)
                           : one;
    const std::string file = fmt::format("{}/seed-{}.yaml", options_.folder, seed);
    const std::string what =
        first == seed ? scenario::line_from(failure, "seen: ") : fmt::format("as seed {}", first);
    const std::lock_guard<std::mutex> lock(mutex_);
    fs::create_directories(options_.folder);
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
