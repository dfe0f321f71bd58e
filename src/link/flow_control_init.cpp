// SPDX-License-Identifier: Apache-2.0
// Flow-control initialisation.
#include "link/flow_control_init.h"

#include <algorithm>

namespace flitwise {

FlowControlInit::Step FlowControlInit::take(Time now) {
  const Step step{fi1_ ? DllpType::kInitFc2 : DllpType::kInitFc1,
                  static_cast<FcClass>(position_ % kFcClasses), position_ >= kFcClasses};
  triple_began_ = position_ == 0 ? now : triple_began_;
  position_ = (position_ + 1) % values_;
  if (position_ == 0) {
    if (fi1_) {
      ++sent_triples_of_phase2_;
    }
    due_ = is_active() ? Time::never() : triple_began_ + kInitFcPeriod;
  }
  return step;
}

bool FlowControlInit::receive_values(FcClass fc_class, Time now, bool is_shared) {
  constexpr std::size_t kClasses = kFcClasses;
  bool& seen = seen_[static_cast<std::size_t>(fc_class) + (is_shared ? kClasses : 0)];
  const bool is_first = !seen;
  seen = true;
  if (!fi1_ && std::all_of(seen_.begin(), seen_.begin() + values_, [](bool one) { return one; })) {
    fi1_ = true;
    position_ = 0;
    due_ = now;
  }
  return is_first;
}

}  // namespace flitwise
