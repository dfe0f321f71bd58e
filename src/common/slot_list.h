// SPDX-License-Identifier: Apache-2.0
/// A doubly linked list over the slots 0..n-1 without allocation: the order in which policies and
/// caches keep their entries; and records that come and go.
#pragma once

#include <cstddef>
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

/// No record.
inline constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// Records by token, as many as have ever been open at once.
template <class Record>
class TokenPool {
 public:
  Record& operator[](std::uint32_t token) { return records_[token]; }
  const Record& operator[](std::uint32_t token) const { return records_[token]; }
  /// All so far, open or not.
  auto begin() { return records_.begin(); }
  auto end() { return records_.end(); }
  auto begin() const { return records_.begin(); }
  auto end() const { return records_.end(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(records_.size()); }
  std::size_t open_count() const { return records_.size() - free_.size(); }
  /// The one that open() gives next.
  std::uint32_t next() {
    if (free_.empty()) {
      free_.push_back(size());
      records_.emplace_back();
    }
    return free_.back();
  }
  /// Of a new record.
  std::uint32_t open(Record record = {}) {
    const std::uint32_t token = next();
    free_.pop_back();
    records_[token] = std::move(record);
    return token;
  }
  void close(std::uint32_t token) { free_.push_back(token); }

  /// Records one behind the other, linked by Record::next.
  struct Queue {
    std::uint32_t first = kNobody, last = kNobody;
    bool empty() const { return first == kNobody; }
  };
  void push(Queue& queue, std::uint32_t token) {
    records_[token].next = kNobody;
    (queue.empty() ? queue.first : records_[queue.last].next) = token;
    queue.last = token;
  }
  /// REQUIRES: not empty.
  std::uint32_t pop(Queue& queue) { return std::exchange(queue.first, records_[queue.first].next); }

 private:
  std::vector<Record> records_;
  std::vector<std::uint32_t> free_;
};

}  // namespace flitwise
