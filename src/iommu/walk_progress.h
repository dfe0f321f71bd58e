// SPDX-License-Identifier: Apache-2.0
/// Which walks bring a run on while none of its requests is completed (docs/statistics.md, "When a
/// run ends by itself"): those for requests that were there when the doubt began, and from then on
/// the first for each page. A device that asks for the same for ever adds nothing to them.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "iommu/waiting_pages.h"

namespace flitwise {

class WalkProgress {
 public:
  /// Nothing has been completed for long. asked: number of the last request so far.
  void begin_doubt(std::uint64_t asked) {
    if (!is_doubted_) {
      is_doubted_ = true;
      asked_ = asked;
    }
  }
  /// Something was completed.
  void end_doubt() {
    is_doubted_ = false;
    walked_.clear();
  }

  /// A walk for request number `request` has read memory, or is over.
  void step(std::uint64_t request, const WaitingPages::Key& page, bool is_over) {
    if (!is_doubted_) {
      return;
    }
    const std::pair<std::uint64_t, std::uint64_t> key{page.page, page.who};
    steps_ += request <= asked_ || walked_.count(key) == 0 ? 1 : 0;
    if (is_over) {
      walked_.insert(key);
    }
  }
  /// Steps that count; they only grow.
  std::uint64_t steps() const { return steps_; }

 private:
  bool is_doubted_ = false;
  std::uint64_t asked_ = 0, steps_ = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> walked_;  // filled in doubt alone
};

}  // namespace flitwise
