// SPDX-License-Identifier: Apache-2.0
// The signal handler and its flag.
#include "common/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace flitwise {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not lock");

void on_signal(int /*signal*/) {
  interrupted.store(true, std::memory_order_relaxed);
}

std::atomic<int> code_at_end{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not lock");

void end_at_once(int /*signal*/) {
  ::_exit(code_at_end.load(std::memory_order_relaxed));
}

}  // namespace

void watch_for_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void end_on_interrupt(int exit_code) {
  code_at_end.store(exit_code, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = end_at_once;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool is_interrupted() {
  return interrupted.load(std::memory_order_relaxed);
}

}  // namespace flitwise
