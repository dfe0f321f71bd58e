// SPDX-License-Identifier: Apache-2.0
// A link that trains again, goes down or comes up. [LNK-10.2] to [LNK-10.7]
#include <utility>

#include "link/link.h"
#include "monitor/link_monitor.h"

namespace flitwise {

// Both directions fall silent for so long. [LNK-10.2]
Time Link::train(Time t) {
  const Time until = t + config_.timing.retrain;
  for (std::size_t side = 0; side < 2; ++side) {
    ends_[side]->lanes.settle(until);
    agenda_.at(kTransmit + side, until);
  }
  return until;
}

// What is not acknowledged goes out again afterwards. [LNK-10.3]
void Link::recover(Time t) {
  const Time until = train(t);
  for (const std::unique_ptr<End>& end : ends_) {
    end->framer->recovered(until);
  }
}

void Link::take_down() {
  is_down_ = true;
  for (std::size_t side = 0; side < 2; ++side) {
    End& from = *ends_[side];
    from.framer->reset(now());
    from.queues.reset(now());
    if (from.messages) {
      from.messages->reset();
      from.messages->note_stalls(now());
    }
    from.wire.clear();
    from.delayed_to = Time{};
    from.held_up = 0;
    // What the port gave and the other has not got is lost, wherever it was. [LNK-10.4]
    LinkLoad missing = from.taken;
    missing -= ends_[1 - side]->delivered_load;
    from.account.lost += missing;
    from.account.lost -= std::exchange(from.written_off, missing);
  }
  if (monitor_ != nullptr) {
    monitor_->went_down();
  }
  // What the ports kept back goes the same way.
  for (std::size_t side = 0; side < 2; ++side) {
    tell_room(side);
  }
}

// [LNK-10.7]
void Link::bring_up() {
  is_down_ = false;
  const Time until = train(now());
  for (const std::unique_ptr<End>& end : ends_) {
    end->framer->start(until);
  }
}

}  // namespace flitwise
