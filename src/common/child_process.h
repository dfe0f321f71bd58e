// SPDX-License-Identifier: Apache-2.0
/// Runs other programs, which are looked for in PATH where they have no slash, and reads what they
/// print.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace flitwise {

struct ChildProgram {
  std::vector<std::string> words;      ///< the program and its arguments
  const std::string* input = nullptr;  ///< its stdin, if any
  bool tells_stderr = false;           ///< its stderr is read like stdout, else passed on
  std::string log = "";  ///< both go to the end of this file instead, and nothing is read; it goes
                         ///< on where this process is killed
  double limit_seconds = 0;  ///< ended where it takes longer; 0: never
};

struct ChildOutput {
  int exit_code = 0;     ///< 128 + signal where a signal ended it
  std::string text;      ///< what it printed
  bool is_late = false;  ///< ended at its time limit
};

/// Waits for the end of the program. After an interrupt (watch_for_interrupt), and at its time
/// limit, it gets SIGTERM, and SIGKILL if it goes on. Throws std::system_error when it cannot be
/// started.
ChildOutput run_child(ChildProgram program);

/// Work in many child processes: a few threads, each of which waits for one child at a time.
class ProcessPool {
 public:
  /// Does task `number`, by run_child in the main; false where an interrupt cut it short.
  using Work = std::function<bool(std::uint64_t number)>;
  using Tell = std::function<void(std::uint64_t number)>;
  enum class Order : unsigned char { kByNumber, kAsTheyEnd };

  /// REQUIRES: watch_for_interrupt was called, if an interrupt is to end the work.
  ProcessPool(std::uint64_t tasks, unsigned jobs) : tasks_(tasks), jobs_(jobs) {}

  /// Begins tasks 0, 1, 2, ... in this order, so many at a time, and calls `tell` on this thread
  /// for each that was done. After an interrupt none begins. What a task or `tell` throws ends the
  /// work once the tasks under way are over, and is thrown again.
  void run(const Work& work, Order order, const Tell& tell);

 private:
  void do_tasks(const Work& work);
  void tell_all(Order order, const Tell& tell);
  void fail_with(std::exception_ptr problem);

  const std::uint64_t tasks_;
  const unsigned jobs_;
  std::mutex mutex_;
  std::condition_variable progress_;
  std::uint64_t next_ = 0;         // to begin
  unsigned working_ = 0;           // threads
  std::set<std::uint64_t> ended_;  // and not told yet
  std::exception_ptr problem_;     // the first
};

}  // namespace flitwise
