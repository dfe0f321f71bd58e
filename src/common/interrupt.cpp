// SPDX-License-Identifier: Apache-2.0
// The signal handler and its flag.
#include "common/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace flitwise {
namespace {

std::atomic<bool> interrupted{false};

// `timeout` and shells send one signal to a child and to its group, so that it comes twice at once.
constexpr std::int64_t kOneSignalMs = 200;

std::atomic<std::int64_t> first_signal_ms{0};

std::int64_t now_ms() {
  struct timespec now {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1000} + now.tv_nsec / 1'000'000;
}

std::atomic<const char*> last_words{nullptr};

void say_last_words() {
  if (const char* const text = last_words.load(std::memory_order_relaxed); text != nullptr) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  }
}

// The first asks for an end; one that comes later ends the program at once.
void on_signal(int signal) {
  if (!interrupted.load(std::memory_order_relaxed)) {
    first_signal_ms.store(now_ms(), std::memory_order_relaxed);
    interrupted.store(true, std::memory_order_relaxed);
  } else if (now_ms() - first_signal_ms.load(std::memory_order_relaxed) > kOneSignalMs) {
    say_last_words();
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

std::atomic<int> code_at_end{0};
static_assert(decltype(interrupted)::is_always_lock_free &&
                  decltype(first_signal_ms)::is_always_lock_free &&
                  decltype(code_at_end)::is_always_lock_free &&
                  decltype(last_words)::is_always_lock_free,
              "a signal handler may not lock");

void end_at_once(int /*signal*/) {
  say_last_words();
  ::_exit(code_at_end.load(std::memory_order_relaxed));
}

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// Who ignores SIGHUP, as under nohup, goes on doing so.
void handle_by(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : kSignals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal != SIGHUP || before.sa_handler != SIG_IGN) {
      sigaction(signal, &action, nullptr);
    }
  }
}

}  // namespace

void watch_for_interrupt() {
  handle_by(on_signal);
}

void say_at_end(const char* text) {
  last_words.store(text, std::memory_order_relaxed);
}

BlockedInterrupts::BlockedInterrupts() {
  sigset_t signals{};
  sigemptyset(&signals);
  for (const int signal : kSignals) {
    sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

BlockedInterrupts::~BlockedInterrupts() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void end_on_interrupt(int exit_code) {
  code_at_end.store(exit_code, std::memory_order_relaxed);
  handle_by(end_at_once);
}

bool is_interrupted() {
  return interrupted.load(std::memory_order_relaxed);
}

bool is_to_be_tried_again() {
  if (errno != EINTR) {
    return false;
  }
  if (is_interrupted()) {
    throw Interrupted();
  }
  return true;
}

}  // namespace flitwise
