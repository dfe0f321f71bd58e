// SPDX-License-Identifier: Apache-2.0
/// Progress of a sweep on stderr: a bar on a terminal, a line every tenth elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "sweep/local_engine.h"

namespace flitwise {

/// The text of the bar or line: "[####      ]  12/30   40 %  2 cached  1 failed  8 s left".
std::string progress_text(const SweepProgress& progress, double elapsed_seconds, bool with_bar);

class ProgressPrinter {
 public:
  ProgressPrinter();
  void show(const SweepProgress& progress);
  /// Ends the bar's line.
  void finish() const;

 private:
  std::chrono::steady_clock::time_point start_;
  bool is_terminal_;
  int last_tenth_ = -1;
};

}  // namespace flitwise
