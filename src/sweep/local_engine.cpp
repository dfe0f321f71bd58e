// SPDX-License-Identifier: Apache-2.0
// A pool of posix_spawn children, watched by sigtimedwait.
#include "sweep/local_engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "common/atomic_file.h"

extern char** environ;

namespace flitwise {
namespace {

namespace fs = std::filesystem;

/// Blocks the signals the pool waits for, and puts the old mask back at the end.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&set_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
      sigaddset(&set_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// The next signal, or 0 after a second without one.
  int wait() const {
    const timespec second{1, 0};
    const int signal = sigtimedwait(&set_, nullptr, &second);
    return signal < 0 ? 0 : signal;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

/// One attempt at one point.
struct Attempt {
  const Point* point;
  unsigned number;
};

class Pool {
 public:
  Pool(const LocalOptions& options, const std::function<void(const SweepProgress&)>& report)
      : options_(options), report_(report) {}

  SweepOutcome run(const Plan& plan) {
    collect(plan);
    report_(outcome_.progress);
    while (!running_.empty() || (next_ < waiting_.size() && !outcome_.is_interrupted)) {
      while (running_.size() < options_.jobs && next_ < waiting_.size() &&
             !outcome_.is_interrupted) {
        start(waiting_[next_++]);
      }
      const int signal = signals_.wait();
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
        interrupt();
      }
      reap();
    }
    return outcome_;
  }

 private:
  void collect(const Plan& plan) {
    std::set<std::string> seen;
    for (const Point& point : plan) {
      if (!seen.insert(point.id).second) {
        continue;
      }
      check_places(options_.folder, point);
      ++outcome_.progress.total;
      if (has_result(options_.folder, point)) {
        ++outcome_.progress.cached;
        ++outcome_.progress.done;
      } else {
        waiting_.push_back({&point, 1});
      }
    }
  }

  void start(const Attempt& attempt) {
    const std::string index = std::to_string(attempt.point->index);
    const std::string manifest = options_.folder + "/manifest.jsonl";
    std::vector<std::string> words = {options_.program, "sweep", "point", "--manifest",   manifest,
                                      "--index",        index,   "--out", options_.folder};
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const std::string log = log_path(options_.folder, *attempt.point);
    if (std::error_code none; fs::is_symlink(log, none)) {
      fs::remove(log, none);  // never through a link
    }
    const int mode = O_WRONLY | O_CREAT | O_NOFOLLOW | (attempt.number == 1 ? O_TRUNC : O_APPEND);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), mode, 0644);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &signals_.before());
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int failure = posix_spawn(&child, options_.program.c_str(), &files, &attributes,
                                    arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failure != 0) {
      interrupt();
      throw std::system_error(failure, std::generic_category(), "cannot start a point");
    }
    running_.emplace(child, attempt);
  }

  void reap() {
    for (auto child = running_.begin(); child != running_.end();) {
      int status = 0;
      if (waitpid(child->first, &status, WNOHANG) != child->first) {
        ++child;
        continue;
      }
      const Attempt attempt = child->second;
      child = running_.erase(child);
      ended(attempt, status);
    }
  }

  void ended(const Attempt& attempt, int status) {
    const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                         has_result(options_.folder, *attempt.point);
    if (!is_good && outcome_.is_interrupted) {
      return;
    }
    if (!is_good && attempt.number <= options_.retries) {
      waiting_.push_back({attempt.point, attempt.number + 1});
      return;
    }
    ++outcome_.progress.done;
    if (!is_good) {
      ++outcome_.progress.failed;
      outcome_.failed.push_back(*attempt.point);
    }
    report_(outcome_.progress);
  }

  void interrupt() {
    outcome_.is_interrupted = true;
    for (const auto& [child, attempt] : running_) {
      kill(child, SIGTERM);
    }
  }

  const LocalOptions& options_;
  const std::function<void(const SweepProgress&)>& report_;
  BlockedSignals signals_;
  std::vector<Attempt> waiting_;
  std::size_t next_ = 0;
  std::map<pid_t, Attempt> running_;
  SweepOutcome outcome_;
};

}  // namespace

SweepOutcome run_local(const Plan& plan, const LocalOptions& options,
                       const std::function<void(const SweepProgress&)>& report) {
  make_folders(options.folder);
  for (const char* name : {"/results.sqlite", "/points.csv"}) {
    check_place(options.folder + name);  // made of all points at the end
  }
  remove_left_over_files(options.folder + "/points");
  return Pool(options, report).run(plan);
}

}  // namespace flitwise
