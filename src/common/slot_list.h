// SPDX-License-Identifier: Apache-2.0
/// A doubly linked list over the slots 0..n-1 without allocation: the order in which policies and
/// caches keep their entries.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace flitwise {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = 0xffff'ffffU;

/// Each slot stands in the list at most once. All operations are O(1).
class SlotList {
 public:
  explicit SlotList(unsigned slots) : links_(slots + 1U), end_(slots) {
    links_[end_] = {end_, end_};
  }

  std::optional<Slot> front() const { return to_optional(links_[end_].next); }
  /// The slot behind `slot`. REQUIRES: contains(slot).
  std::optional<Slot> next(Slot slot) const { return to_optional(links_[slot].next); }
  bool contains(Slot slot) const { return links_[slot].next != kOut; }
  unsigned size() const { return size_; }

  /// REQUIRES: !contains(slot).
  void push_back(Slot slot) {
    const Slot last = links_[end_].previous;
    links_[slot] = {last, end_};
    links_[last].next = slot;
    links_[end_].previous = slot;
    ++size_;
  }
  /// Does nothing when the slot is not in the list.
  void erase(Slot slot) {
    if (!contains(slot)) {
      return;
    }
    const Link link = links_[slot];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
    links_[slot] = Link{};
    --size_;
  }
  /// More slots, none of them in the list. Their order stays. REQUIRES: slots is not fewer.
  void grow(unsigned slots) {
    SlotList bigger(slots);
    for (std::optional<Slot> slot = front(); slot; slot = next(*slot)) {
      bigger.push_back(*slot);
    }
    *this = std::move(bigger);
  }
  void move_to_back(Slot slot) {
    erase(slot);
    push_back(slot);
  }

 private:
  static constexpr Slot kOut = 0xffff'ffffU;
  struct Link {
    Slot previous = kOut;
    Slot next = kOut;
  };
  std::optional<Slot> to_optional(Slot slot) const {
    return slot == end_ ? std::nullopt : std::optional<Slot>(slot);
  }

  std::vector<Link> links_;  // links_[end_] is the ring's own node
  Slot end_;
  unsigned size_ = 0;
};

/// Slots that are in use, oldest first, and those that are not: the one free for longest goes next.
class SlotPool {
 public:
  explicit SlotPool(unsigned slots) : free_(slots), used_(slots) {
    for (Slot slot = 0; slot < slots; ++slot) {
      free_.push_back(slot);
    }
  }

  unsigned free() const { return free_.size(); }
  const SlotList& used() const { return used_; }
  /// REQUIRES: free() > 0.
  Slot take() {
    const Slot slot = *free_.front();
    free_.erase(slot);
    used_.push_back(slot);
    return slot;
  }
  /// REQUIRES: it is in use.
  void give_back(Slot slot) {
    used_.erase(slot);
    free_.push_back(slot);
  }

 private:
  SlotList free_, used_;
};

}  // namespace flitwise
