// SPDX-License-Identifier: Apache-2.0
/// Pages that requests wait for, and those that walks bring on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

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

  void insert(const Key& key) {
    if (2 * ++taken_ > slots_.size()) {
      grow();
    }
    Slot& slot = slots_[slot_of(key)];
    taken_ -= slot.count > 0 ? 1 : 0;
    slot.key = key;
    ++slot.count;
  }
  /// REQUIRES: one of the page is there. Those behind a slot that becomes free move up.
  void erase(const Key& key) {
    std::size_t hole = slot_of(key);
    if (--slots_[hole].count > 0) {
      return;
    }
    --taken_;
    for (std::size_t at = next(hole); slots_[at].count > 0; at = next(at)) {
      if (((at - first_slot(slots_[at].key)) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole].count = 0;
  }
  bool contains(const Key& key) const { return slots_[slot_of(key)].count > 0; }

 private:
  /// Open addressing; at most half of the slots are taken.
  struct Slot {
    Key key;
    std::size_t count = 0;  // how many wait; 0: the slot is free
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t first_slot(const Key& key) const {
    constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio
    return static_cast<std::size_t>(((key.page ^ key.who * kSpread) * kSpread) >> 32) & mask();
  }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  std::size_t slot_of(const Key& key) const {
    std::size_t at = first_slot(key);
    while (slots_[at].count > 0 && !(slots_[at].key == key)) {
      at = next(at);
    }
    return at;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.count > 0) {
        slots_[slot_of(slot.key)] = slot;
      }
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(128);  // a power of two
  std::size_t taken_ = 0;
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
