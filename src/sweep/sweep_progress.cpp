// SPDX-License-Identifier: Apache-2.0
// Counts as words, as a bar and as JSON.
#include "sweep/sweep_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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
    text +=
        ", " + time_left_text(elapsed_seconds, static_cast<double>(ran), static_cast<double>(left));
  }
  return text;
}

std::string progress_json(const SweepProgress& progress, double elapsed_seconds) {
  const auto shown = [](double seconds) { return std::round(seconds * 1000) / 1000; };
  nlohmann::ordered_json line = {
      {"event", "progress"},       {"total", progress.total},
      {"done", progress.done},     {"cached", progress.cached},
      {"failed", progress.failed}, {"elapsed_s", shown(elapsed_seconds)}};
  const std::size_t ran = progress.done - progress.cached;
  line["left_s"] = nullptr;  // nobody knows yet
  if (ran != 0) {
    line["left_s"] = shown(elapsed_seconds / static_cast<double>(ran) *
                           static_cast<double>(progress.total - progress.done));
  }
  return line.dump();
}

bool ProgressPrinter::is_time_for_line(const SweepProgress& progress) {
  const int tenth =
      progress.total == 0 ? 10 : static_cast<int>(progress.done * 10 / progress.total);
  const bool is_time = tenth > last_tenth_ || Clock::now() - last_ > std::chrono::minutes(1);
  last_tenth_ = std::max(tenth, last_tenth_);
  return is_time;
}

void ProgressPrinter::show(const SweepProgress& progress) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  if (style_ == ProgressStyle::kNone) {
    return;
  }
  if (style_ == ProgressStyle::kJson) {
    line_.show(progress_json(progress, elapsed));
  } else if (line_.is_drawn_again()) {
    line_.show(progress_text(progress, elapsed, true));
  } else if (is_time_for_line(progress)) {
    last_ = Clock::now();
    line_.show(progress_text(progress, elapsed, false));
  }
}

}  // namespace flitwise
