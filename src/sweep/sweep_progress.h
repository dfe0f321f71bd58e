// SPDX-License-Identifier: Apache-2.0
/// How far a sweep is: for people on a terminal, in a log file, and for programs.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "common/terminal.h"

namespace flitwise {

struct SweepProgress {
  std::size_t total = 0;   ///< distinct points
  std::size_t cached = 0;  ///< had a result before
  std::size_t done = 0;    ///< cached ones and those that have ended, failed or not
  std::size_t failed = 0;
};

enum class ProgressStyle : unsigned char {
  kAuto,   ///< a bar on a terminal, plain lines elsewhere
  kPlain,  ///< a line every tenth, and one a minute if news come
  kNone,
  kJson,  ///< a line of JSON each time
};

/// The text of the bar or line: "[####      ] 12/30 points, 40 %, 2 had a result, 8 s left".
std::string progress_text(const SweepProgress& progress, double elapsed_seconds, bool with_bar);
/// {"event":"progress","total":30,"done":12,"cached":2,"failed":0,"elapsed_s":5.2,"left_s":8}
std::string progress_json(const SweepProgress& progress, double elapsed_seconds);

/// Prints it on stderr.
class ProgressPrinter {
 public:
  explicit ProgressPrinter(ProgressStyle style)
      : style_(style), line_(stderr, style == ProgressStyle::kAuto && is_drawable(stderr)) {}
  void show(const SweepProgress& progress);
  /// The bar stays.
  void finish() { line_.keep(); }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_time_for_line(const SweepProgress& progress);

  const ProgressStyle style_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;  // that something was shown
  ProgressLine line_;
  int last_tenth_ = -1;
};

}  // namespace flitwise
