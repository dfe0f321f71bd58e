// SPDX-License-Identifier: Apache-2.0
/// Does a run get on? Progress is what was completed; what only goes by is activity
/// (docs/statistics.md, "When a run ends by itself").
#pragma once

#include <algorithm>
#include <cstdint>

#include "flitwise/time.h"

namespace flitwise {

class ProgressWatch {
 public:
  /// patience: how long nothing may be completed.
  explicit ProgressWatch(Time patience) : patience_(patience) {}

  /// Patience begins anew.
  void begin(Time now) { since_ = moved_ = now; }

  enum class Outlook : std::uint8_t {
    kMoves,     ///< something was completed, or was not for less than half of the patience
    kDoubtful,  ///< for more than half of it
    kSilent,    ///< patience is over, and in its second half nothing happened at all
    kRepeats,   ///< patience is over, and things happened that completed nothing
  };
  /// Both numbers only grow. Ask often: what lies between two calls happened at the second, or,
  /// where memory goes on with it for longer, at `over`.
  Outlook look(Time now, std::uint64_t completed, std::uint64_t activity, Time over = {}) {
    const Time half{patience_.fs / 2};
    if (activity != activity_) {
      activity_ = activity;
      moved_ = now;
    }
    if (completed != completed_) {
      completed_ = completed;
      since_ = std::max(now, over);
    }
    if (now - since_ <= half) {
      return Outlook::kMoves;
    }
    if (now - since_ <= patience_) {
      return Outlook::kDoubtful;
    }
    return now - moved_ > half ? Outlook::kSilent : Outlook::kRepeats;
  }

 private:
  const Time patience_;
  Time since_{};  // the last completion
  Time moved_{};  // the last activity
  std::uint64_t completed_ = 0, activity_ = 0;
};

}  // namespace flitwise
