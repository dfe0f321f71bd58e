// SPDX-License-Identifier: Apache-2.0
/// Does a run get on? Progress is what was completed; what only goes by is activity, which is
/// progress for a while (docs/statistics.md, "When a run ends by itself").
#pragma once

#include <algorithm>
#include <cstdint>

#include "flitwise/time.h"

namespace flitwise {

/// model: no run goes on for longer, so that Time has room for all that it reckons with.
inline constexpr Time kLongestRun = Time::from_us(9'000'000'000);

class ProgressWatch {
 public:
  /// model: so many times after a completion it is progress that anything happens at all. So a
  /// request may pass as many parts as there are, and a driver take as many steps, each of them as
  /// long as patience; and what repeats without an end is noticed.
  static constexpr unsigned kMostSteps = 1'000;

  /// patience: how long nothing may be completed. steps: in place of kMostSteps.
  explicit ProgressWatch(Time patience, unsigned steps = kMostSteps)
      : patience_(patience), most_steps_(steps), steps_left_(steps) {}

  /// Patience begins anew.
  void begin(Time now) {
    since_ = moved_ = now;
    steps_left_ = most_steps_;
  }

  enum class Outlook : std::uint8_t {
    kMoves,     ///< there was progress less than half of the patience ago
    kDoubtful,  ///< for more than half of it
    kSilent,    ///< patience is over, and in its second half nothing happened at all
    kRepeats,   ///< patience is over, and things happened that completed nothing
  };
  /// Both numbers only grow. Ask often: what lies between two calls is one step, and happened at
  /// the second, or, where memory goes on with it for longer, at `over`.
  Outlook look(Time now, std::uint64_t completed, std::uint64_t activity, Time over = {}) {
    const Time half{patience_.fs / 2};
    if (activity != activity_) {
      activity_ = activity;
      moved_ = now;
      if (steps_left_ > 0) {
        --steps_left_;
        since_ = std::max(since_, now);
      }
    }
    if (completed != completed_) {
      completed_ = completed;
      since_ = std::max(now, over);
      steps_left_ = most_steps_;
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
  const unsigned most_steps_;
  unsigned steps_left_;
  Time since_{};  // the last completion, or step that counts
  Time moved_{};  // the last activity
  std::uint64_t completed_ = 0, activity_ = 0;
};

}  // namespace flitwise
