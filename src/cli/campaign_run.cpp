// SPDX-License-Identifier: Apache-2.0
// Campaigns of random cases.
#include "cli/campaign_run.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "cli/case_child.h"
#include "cli/exit_codes.h"
#include "common/atomic_file.h"
#include "common/interrupt.h"
#include "scenario/campaign.h"
#include "scenario/case_writer.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;
using scenario::Case;

constexpr unsigned kShrinkBudget = 120;    // runs of one failing case
constexpr std::uint64_t kTellEvery = 100;  // seeds

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

  /// What is wrong with the case, or nothing; `name` stands for the file in the text.
  std::string failure(Case one, const std::string& name) const {
    static std::atomic<unsigned> files{0};
    one.file = (folder_ / fmt::format("{}.yaml", files++)).string();
    write_file_atomically(one.file, scenario::yaml_of(one));
    std::string failure = failure_of(one);
    fs::remove(one.file);
    for (std::size_t at = failure.find(one.file); at != std::string::npos;
         at = failure.find(one.file, at + name.size())) {
      failure.replace(at, one.file.size(), name);
    }
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
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < options_.jobs; ++i) {
      workers.emplace_back([this] { work_safely(); });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    if (problem_) {
      std::rethrow_exception(problem_);
    }
    if (is_interrupted()) {
      fmt::print(stderr, "flitwise: interrupted after {} of {} seeds\n", done_, options_.seeds);
    }
    fmt::print("{} seeds, {} failed\n", done_, failed_);
    return is_interrupted() ? kInterrupted : failed_ == 0 ? kOk : kCheckFailed;
  }

 private:
  // What goes wrong in one worker ends all of them.
  void work_safely() {
    try {
      work();
    } catch (...) {
      next_ = options_.seeds;
      const std::lock_guard<std::mutex> lock(mutex_);
      problem_ = problem_ ? problem_ : std::current_exception();
    }
  }

  void work() {
    for (std::uint64_t i = next_++; i < options_.seeds && !is_interrupted(); i = next_++) {
      const std::uint64_t seed = options_.first_seed + i;
      const Case one = scenario::campaign_case(seed, options_.sets);
      if (const std::string failure = workplace_.failure(one, one.id);
          !failure.empty() && !is_interrupted()) {
        report(seed, one, kind_of(failure));
      }
      if (is_interrupted()) {
        return;
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      if (++done_ % kTellEvery == 0) {
        fmt::print(stderr, "{} of {} seeds, {} failed\n", done_, options_.seeds, failed_);
      }
    }
  }

  // What was expected first, so that a smaller case fails for the same reason.
  static std::string kind_of(const std::string& failure) {
    const std::size_t from = failure.find("expected ");
    if (from == std::string::npos) {
      return failure;
    }
    std::string kind = failure.substr(from, failure.find('\n') - from);
    for (const char* const key : {" rule=", " name="}) {  // of the violation or the check
      if (const std::size_t at = failure.find(key); at != std::string::npos) {
        kind += failure.substr(at, failure.find(' ', at + 1) - at);
      }
    }
    return kind;
  }

  void report(std::uint64_t seed, const Case& one, const std::string& kind) {
    const auto fails = [&](const Case& less) {
      return kind_of(workplace_.failure(less, one.id)) == kind;
    };
    const Case small = scenario::shrunk(one, fails, kShrinkBudget);
    const std::string file = fmt::format("{}/seed-{}.yaml", options_.folder, seed);
    const std::string failure = workplace_.failure(small, file);
    const std::lock_guard<std::mutex> lock(mutex_);
    ++failed_;
    fs::create_directories(options_.folder);
    write_file_atomically(file, scenario::yaml_of(small));
    fmt::print("FAIL  seed {}: {} steps left of {}, in {}\n{}", seed, small.steps.size(),
               one.steps.size(), file, failure);
    std::fflush(stdout);
  }

  const CampaignOptions options_;
  Workplace workplace_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::uint64_t done_ = 0, failed_ = 0;
  std::exception_ptr problem_;
};

}  // namespace

int run_campaign(const CampaignOptions& options) {
  return Campaign(options).run();
}

}  // namespace flitwise::cli
