// SPDX-License-Identifier: Apache-2.0
/// Page numbers of requests that wait in a queue, first in, first out: is one of a page among them?
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flitwise {

class WaitingPages {
 public:
  void push(std::uint64_t page) {
    if (count_ == pages_.size()) {
      grow();
    }
    pages_[(first_ + count_++) & (pages_.size() - 1)] = page;
  }
  /// REQUIRES: one is there.
  void pop() {
    first_ = (first_ + 1) & (pages_.size() - 1);
    --count_;
  }
  bool contains(std::uint64_t page) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (pages_[(first_ + i) & (pages_.size() - 1)] == page) {
        return true;
      }
    }
    return false;
  }

 private:
  void grow() {
    std::vector<std::uint64_t> larger(2 * pages_.size());
    for (std::size_t i = 0; i < count_; ++i) {
      larger[i] = pages_[(first_ + i) & (pages_.size() - 1)];
    }
    pages_ = std::move(larger);
    first_ = 0;
  }

  std::vector<std::uint64_t> pages_ = std::vector<std::uint64_t>(64);  // a power of two
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace flitwise
