// SPDX-License-Identifier: Apache-2.0
/// Virtual kick of an RDMA adapter: whose turn it is.
/// In: kicks of queue pairs, from doorbells, commands and timers. Out: each of them to queue pair
/// fetch, in a circle, functions by their weights where they have any [HP-8]. Queue: one place for
/// each queue pair, which has one kick at a time; so it never refuses. Latency: `kick`; interval: a
/// clock. Queue pair fetch blocks it where it is full, and the physical function that has put the
/// adapter out of service [HP-9].
#pragma once

#include "hca/function_turns.h"
#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaVirtualKick final : public HcaStage<std::uint32_t>, public HcaKicks {
 public:
  explicit HcaVirtualKick(const HcaParts& parts)
      : HcaStage("virtual_kick", "device.rdma.timing.kick", parts.config.pairs,
                 parts.config.rdma.timing.kick, parts.config.rdma.timing.clock),
        s_(parts),
        turns_(parts.config.function_count(), parts.pairs.weights()) {}

  void kick(std::uint32_t pair, Time now) override {
    if (!s_.pairs[pair].is_kicked) {
      s_.pairs[pair].is_kicked = true;
      push(pair, now);
    }
  }
  bool has_kick(Time now) const override {
    return s_.pairs.are_served() && (queue_.is_due(now) || !turns_.empty());
  }
  bool run(Time now) override {
    bool has_moved = false;
    if (!s_.pairs.are_served()) {
      return false;
    }
    for (; queue_.is_due(now) && !s_.pairs.weights().empty(); has_moved = true) {
      const std::uint32_t pair = queue_.take(now);
      turns_.push(s_.config.place_of(pair), pair);
      queue_.hold(now);
    }
    for (; has_kick(now) && s_.fetches.has_room_for_kick(now); has_moved = true) {
      HcaArrived kicked;
      if (turns_.empty()) {
        kicked.pair = queue_.take(now);
      } else {
        kicked.pair = turns_.take();
        queue_.let_go(now);
      }
      s_.pairs[kicked.pair].is_kicked = false;
      s_.fetches.fetch(std::move(kicked), now);
    }
    return has_moved;
  }
  void settle(Time now) override {
    HcaStage::settle(now);
    if (!turns_.empty()) {
      queue_.note_blocked(true, now);
      ask(now, queue_.next());
    }
  }
  bool is_quiet() const override {
    return !s_.pairs.are_served() || (HcaStage::is_quiet() && turns_.empty());
  }

 private:
  const HcaParts& s_;
  FunctionTurns turns_;  // with weights: kicks that have passed, and wait for queue pair fetch
};

}  // namespace flitwise
