// SPDX-License-Identifier: Apache-2.0
// posix_spawn with a pipe on stdout; threads that take the next task, and the one that tells what
// has ended.
#include "common/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include "common/interrupt.h"

extern char** environ;

namespace flitwise {
namespace {

constexpr int kLookMilliseconds = 100;  // for an interrupt
constexpr int kPatientLooks = 20;       // between SIGTERM and SIGKILL

// A descriptor of the child that nothing else has, where it prints to a file: open until it ends.
constexpr int kSignOfLife = 3;

// All that the child prints until it closes its end, or is killed.
ChildOutput read_all(int end, pid_t child, double limit_seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  ChildOutput output;
  std::array<char, 4096> piece{};
  int looks_since_stop = 0;
  for (;;) {
    output.is_late = output.is_late ||
                     (limit_seconds > 0 &&
                      std::chrono::duration<double>(Clock::now() - start).count() > limit_seconds);
    if (is_interrupted() || output.is_late) {
      if (looks_since_stop == 0 || looks_since_stop == kPatientLooks) {
        kill(child, looks_since_stop == 0 ? SIGTERM : SIGKILL);
      }
      ++looks_since_stop;
    }
    pollfd waiting{end, POLLIN, 0};
    const int ready = poll(&waiting, 1, kLookMilliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR)) {
      continue;
    }
    const ssize_t n = read(end, piece.data(), piece.size());
    if (n > 0) {
      output.text.append(piece.data(), static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      return output;
    }
  }
}

/// A file in memory, open at its begin; closed with this object.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text) : file_(memfd_create("input", MFD_CLOEXEC)) {
    std::size_t at = 0;
    while (file_ >= 0 && at < text.size()) {
      const ssize_t n = write(file_, text.data() + at, text.size() - at);
      if (n < 0 && errno != EINTR) {
        break;
      }
      at += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }
    if (file_ < 0 || at < text.size() || lseek(file_, 0, SEEK_SET) != 0) {
      throw std::system_error(errno, std::generic_category(), "input of a child process");
    }
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return file_; }

 private:
  int file_;
};

}  // namespace

ChildOutput run_child(ChildProgram program) {
  std::optional<MemoryFile> memory;
  if (program.input != nullptr) {
    memory.emplace(*program.input);
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  std::vector<char*> arguments;
  for (std::string& word : program.words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const bool has_log = !program.log.empty();
  if (has_log) {
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, program.log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0666);
  }
  posix_spawn_file_actions_adddup2(&files, ends[1], has_log ? kSignOfLife : STDOUT_FILENO);
  if (has_log || program.tells_stderr) {
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  }
  if (memory) {
    posix_spawn_file_actions_adddup2(&files, memory->descriptor(), STDIN_FILENO);
  }
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  if (failure != 0) {
    close(ends[0]);
    throw std::system_error(failure, std::generic_category(), program.words[0]);
  }
  ChildOutput output = read_all(ends[0], child, program.limit_seconds);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

void ProcessPool::run(const Work& work, Order order, const Tell& tell) {
  std::vector<std::thread> threads;
  working_ = jobs_;
  for (unsigned i = 0; i < jobs_; ++i) {
    threads.emplace_back([&] { do_tasks(work); });
  }
  try {
    tell_all(order, tell);
  } catch (...) {
    fail_with(std::current_exception());
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (problem_) {
    std::rethrow_exception(problem_);
  }
}

void ProcessPool::do_tasks(const Work& work) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (next_ < tasks_ && !is_interrupted()) {
    const std::uint64_t number = next_++;
    lock.unlock();
    bool is_done = false;
    try {
      is_done = work(number);
    } catch (...) {
      fail_with(std::current_exception());
    }
    lock.lock();
    if (is_done) {
      ended_.insert(number);
      progress_.notify_one();
    }
  }
  --working_;
  progress_.notify_one();
}

void ProcessPool::tell_all(Order order, const Tell& tell) {
  std::uint64_t expected = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto has_news = [&] {
    return working_ == 0 ||
           (!ended_.empty() && (order == Order::kAsTheyEnd || *ended_.begin() == expected));
  };
  for (progress_.wait(lock, has_news); !ended_.empty(); progress_.wait(lock, has_news)) {
    const std::uint64_t number = *ended_.begin();
    ended_.erase(ended_.begin());
    expected = number + 1;
    lock.unlock();
    tell(number);
    lock.lock();
  }
}

void ProcessPool::fail_with(std::exception_ptr problem) {
  const std::lock_guard<std::mutex> lock(mutex_);
  problem_ = problem_ ? problem_ : std::move(problem);
  next_ = tasks_;
}

}  // namespace flitwise
