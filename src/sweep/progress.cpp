// SPDX-License-Identifier: Apache-2.0
// The bar and its plain form.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "sweep/local_engine.h"

namespace flitwise {

std::string progress_text(const SweepProgress& progress, double elapsed_seconds, bool with_bar) {
  constexpr std::size_t kWidth = 30;
  const std::size_t total = progress.total == 0 ? 1 : progress.total;
  std::string text;
  if (with_bar) {
    const std::size_t full = progress.done * kWidth / total;
    text = "[" + std::string(full, '#') + std::string(kWidth - full, ' ') + "] ";
  }
  text +=
      fmt::format("{}/{} points, {} %", progress.done, progress.total, progress.done * 100 / total);
  if (progress.cached != 0) {
    text += fmt::format(", {} had a result", progress.cached);
  }
  if (progress.failed != 0) {
    text += fmt::format(", {} failed", progress.failed);
  }
  const std::size_t ran = progress.done - progress.cached;
  const std::size_t left = progress.total - progress.done;
  if (ran != 0 && left != 0) {
    text += fmt::format(", {:.0f} s left",
                        elapsed_seconds / static_cast<double>(ran) * static_cast<double>(left));
  }
  return text;
}

ProgressPrinter::ProgressPrinter()
    : start_(std::chrono::steady_clock::now()), is_terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressPrinter::show(const SweepProgress& progress) {
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (is_terminal_) {
    fmt::print(stderr, "\r{}\x1b[K", progress_text(progress, elapsed, true));
    std::fflush(stderr);
    return;
  }
  const int tenth =
      progress.total == 0 ? 10 : static_cast<int>(progress.done * 10 / progress.total);
  if (tenth > last_tenth_) {
    last_tenth_ = tenth;
    fmt::print(stderr, "{}\n", progress_text(progress, elapsed, false));
  }
}

void ProgressPrinter::finish() const {
  if (is_terminal_) {
    fmt::print(stderr, "\n");
  }
}

}  // namespace flitwise
