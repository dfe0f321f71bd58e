// SPDX-License-Identifier: Apache-2.0
// Progress and mere activity.
#include "stats/progress_watch.h"

#include <algorithm>

namespace flitwise {

ProgressWatch::Outlook ProgressWatch::look(Time now, std::uint64_t completed,
                                           std::uint64_t activity, Time over) {
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

}  // namespace flitwise
