// SPDX-License-Identifier: Apache-2.0
/// Virtual kick of an RDMA adapter: whose turn it is.
/// In: kicks of queue pairs, from doorbells, commands and timers. Out: each of them to queue pair
/// fetch, in a circle. Queue: one place for each queue pair, which has one kick at a time; so it
/// never refuses. Latency: `kick`; interval: a clock. Queue pair fetch blocks it where it is full.
#pragma once

#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaVirtualKick final : public HcaStage<std::uint32_t>, public HcaKicks {
 public:
  explicit HcaVirtualKick(const HcaParts& parts)
      : HcaStage("virtual_kick", "device.rdma.timing.kick", parts.config.pairs,
                 parts.config.rdma.timing.kick, parts.config.rdma.timing.clock),
        s_(parts) {}

  void kick(std::uint32_t pair, Time now) override {
    if (!s_.pairs[pair].is_kicked) {
      s_.pairs[pair].is_kicked = true;
      push(pair, now);
    }
  }
  bool run(Time now) override {
    bool has_moved = false;
    for (; queue_.is_due(now) && s_.fetches.has_room(); has_moved = true) {
      HcaArrived kicked;
      kicked.pair = queue_.take(now);
      s_.pairs[kicked.pair].is_kicked = false;
      s_.fetches.fetch(std::move(kicked), now);
    }
    return has_moved;
  }

 private:
  const HcaParts& s_;
};

}  // namespace flitwise
