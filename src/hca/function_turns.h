// SPDX-License-Identifier: Apache-2.0
/// Whose turn it is: functions that have something go in a circle, each as often in a row as its
/// weight says; what one function has goes in its order. [HP-8]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/circular_buffer.hpp>

#include "common/ranges.h"

namespace flitwise {

class FunctionTurns {
 public:
  /// weights: by function, from 1 on; those beyond have 1. Empty: all functions are as one. It
  /// outlives the turns, and may change but for its size.
  FunctionTurns(std::size_t functions, const std::vector<unsigned>& weights)
      : weights_(weights), queues_(weights.empty() ? 1 : functions, Queue(4)) {}

  bool empty() const { return size_ == 0; }
  void push(std::uint32_t function, std::uint32_t item) {
    Queue& queue = queues_[queues_.size() == 1 ? 0 : function];
    make_room(queue);
    queue.push_back(item);
    ++size_;
  }
  /// REQUIRES: !empty().
  std::uint32_t take() {
    while (queues_[present_].empty() || left_ == 0) {
      present_ = (present_ + 1) % queues_.size();
      left_ = present_ < weights_.size() ? weights_[present_] : 1;
    }
    const std::uint32_t item = queues_[present_].front();
    queues_[present_].pop_front();
    --left_;
    --size_;
    return item;
  }

 private:
  using Queue = boost::circular_buffer<std::uint32_t>;  // grows
  const std::vector<unsigned>& weights_;
  std::vector<Queue> queues_;  // by function
  std::size_t present_ = 0, size_ = 0;
  unsigned left_ = 0;  // turns of the present one
};

}  // namespace flitwise
