// SPDX-License-Identifier: Apache-2.0
/// Tells on stderr how far a run is.
#pragma once

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "common/terminal.h"
#include "flitwise/run_progress.h"

namespace flitwise {

/// "37 % of 1,000,000 requests, 1.24 ms simulated, 12 s left"; while the machine comes up, only the
/// simulated time. `left`: the words about the time left; may be empty.
std::string progress_text(const RunProgress& progress, const std::string& left);

/// On a terminal one line, from 2 s on and then every 200 ms at most, which is gone when this
/// object is; elsewhere a line every 10 s.
class RunProgressPrinter {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// start: of the run.
  RunProgressPrinter(std::FILE* file, bool is_terminal, Moment start);
  /// Call it often; `now` never goes back.
  void show(const RunProgress& progress, Moment now);

 private:
  std::string time_left(const RunProgress& progress, Moment now) const;

  ProgressLine line_;
  Moment next_;
  std::optional<Moment> begin_;  // of the requests
};

}  // namespace flitwise
