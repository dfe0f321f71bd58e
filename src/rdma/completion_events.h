// SPDX-License-Identifier: Apache-2.0
/// Events of completion queues in host memory: software arms a queue, and says how many of
/// its entries it has taken; with the next one it is told once. [VB-1] [RDM-11]
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "rdma/ring_entries.h"

namespace flitwise {

class CompletionEvents {
 public:
  explicit CompletionEvents(std::uint32_t queues) : queues_(queues) {}

  /// True: entries that software has not seen have come before its order, which is the event.
  /// REQUIRES, of the two below as well: there is such a queue.
  bool arm(const CompletionArm& order) {
    Queue& queue = queues_[order.queue];
    queue.is_armed = queue.written == order.taken;
    return !queue.is_armed;
  }
  /// An entry goes to memory behind payload up to number `needs`. True: it is the event.
  bool written(std::uint32_t number, std::uint64_t needs) {
    Queue& queue = queues_[number];
    ++queue.written;
    queue.needs = std::max(queue.needs, needs);
    return std::exchange(queue.is_armed, false);
  }
  /// The queue begins anew.
  void forget(std::uint32_t number) { queues_[number] = {}; }
  /// Payload that goes to memory before entries up to now: their event waits for it too.
  std::uint64_t needs(std::uint32_t number) const { return queues_[number].needs; }

 private:
  struct Queue {
    std::uint32_t written = 0;  // entries, modulo 2^32
    std::uint64_t needs = 0;
    bool is_armed = false;
  };
  std::vector<Queue> queues_;
};

}  // namespace flitwise
