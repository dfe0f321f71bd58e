// SPDX-License-Identifier: Apache-2.0
/// Pages that requests wait for, and those that walks bring on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "common/open_table.h"
#include "iommu/walk.h"

namespace flitwise {

/// Pages that requests in a queue wait for: is one of a page among them? That takes the same time
/// however many wait.
class WaitingPages {
 public:
  /// What makes two requests ask for the same.
  struct Key {
    std::uint64_t page = 0;  ///< number
    std::uint64_t who = 0;   ///< whose page it is
    bool operator==(const Key& other) const { return page == other.page && who == other.who; }
    static Key of(const WalkRequest& request) {
      const std::uint64_t pasid =
          request.pasid ? std::uint64_t{1} << 32 | to_int(*request.pasid) : 0;
      return {request.address >> kPageBits,
              pasid << 17 | std::uint64_t{request.source.value} << 1 | request.is_translated()};
    }
  };

  static std::uint64_t spread(const Key& key) {
    return (key.page ^ key.who * kGoldenSpread) * kGoldenSpread;
  }

  void insert(const Key& key) { ++counts_[key]; }
  /// REQUIRES: one of the page is there.
  void erase(const Key& key) {
    if (--*counts_.find(key) == 0) {
      counts_.erase(key);
    }
  }
  bool contains(const Key& key) const { return counts_.find(key) != nullptr; }

 private:
  OpenTable<Key, std::size_t, spread> counts_;  // how many wait
};

/// Which walks bring a run on while none of its requests is completed (docs/statistics.md, "When a
/// run ends by itself"): those for requests that were there when the doubt began, and from then on
/// the first for each page. A device that asks for the same for ever adds nothing to them.
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
