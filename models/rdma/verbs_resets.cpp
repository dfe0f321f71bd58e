// SPDX-License-Identifier: Apache-2.0
// Software that posts work requests: it begins, and begins anew behind a reset of its function.
// [HP-4]
#include <algorithm>
#include <utility>

#include "rdma/verbs_driver.h"

namespace flitwise {

// Receive buffers are there before the peer begins.
void VerbsDriver::start(Time now, Time begin) {
  origin_ = begin;
  free_ = now;
  provide();
  if (has_given_out()) {
    hooks_.work_ended();
  }
  wakeup_.at(now);
}

void VerbsDriver::provide() {
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    if (!config_.peer_of(pair).sends) {
      continue;
    }
    while (pairs_[pair].receives_posted < config_.receive_buffers()) {
      post_receive(pair);
    }
    hooks_.ring({pair + kFirstQueuePair, true, pairs_[pair].receives_posted});
  }
  for (const auto& [queue, is_used] :
       {std::pair(0U, config_.posts), std::pair(1U, config_.peer_sends)}) {
    if (is_used && config_.verbs.waits_for_interrupt) {
      arm(queue);
    }
  }
}

// What it has posted, or is about to, is lost.
void VerbsDriver::go_down() {
  const std::uint64_t lost = posted_ - completed_;
  completed_ = posted_;
  if (std::exchange(is_posting_, false)) {
    ++not_posted_;
    ++lost_;
  }
  lost_ += lost;
  std::fill(pairs_.begin(), pairs_.end(), Pair{});
  std::fill(requests_.begin(), requests_.end(), Request{});
  coming_ = {};
  std::fill(std::begin(looked_), std::end(looked_), 0);
  std::fill(std::begin(handler_at_), std::end(handler_at_), Time::never());
  waits_for_place_ = false;
  is_down_ = true;
  hooks_.work_ended();
}

// Its completion queues are empty, and the word of the peer is 0 again.
void VerbsDriver::come_up(std::uint32_t epoch, Time now) {
  const RdmaArea first = config_.area(0);
  bytes_.assign(first.completions_bytes(), 0);
  hooks_.own.poke(first.completions_begin(), bytes_.data(), bytes_.size());
  bytes_.assign(RdmaArea::kWordBytes, 0);
  for (std::uint32_t pair = 0; config_.posts && pair < pairs_.size(); ++pair) {
    memory_of_peer(pair).poke(config_.peer_area(pair).word(), bytes_.data(), bytes_.size());
  }
  is_down_ = false;
  epoch_ = epoch;
  free_ = std::max(free_, now);
  provide();
  wakeup_.at(free_);
}

Component::Counts VerbsDriver::errors() const {
  Counts all = errors_;
  const std::uint64_t left = is_down_ ? total_ - posted_ - not_posted_ : 0;
  if (lost_ > 0) {
    all["function_reset"] += lost_;
  }
  if (left > 0) {
    all["function_not_set_up"] += left;
  }
  return all;
}

}  // namespace flitwise
