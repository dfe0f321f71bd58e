// SPDX-License-Identifier: Apache-2.0
/// A record for each line that has one, found by address: open addressing, so that lines that come
/// and go allocate nothing. Nothing depends on the order in which records lie.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "flitwise/cxl.h"

namespace flitwise {

template <class Record>
class LineTable {
 public:
  LineTable() : slots_(kFirstSlots) {}

  std::size_t size() const { return size_; }
  const Record* find(std::uint64_t line) const {
    const std::size_t at = slot_of(line);
    return slots_[at].is_used ? &slots_[at].record : nullptr;
  }
  Record* find(std::uint64_t line) { return const_cast<Record*>(std::as_const(*this).find(line)); }
  /// The record of the line, a new one if it had none. Valid until the next one is made or erased.
  Record& operator[](std::uint64_t line) {
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
    }
    Slot& slot = slots_[slot_of(line)];
    if (!slot.is_used) {
      slot = {line, true, Record{}};
      ++size_;
    }
    return slot.record;
  }
  /// void visit(std::uint64_t line, Record&), which makes and erases none. In no order that means
  /// anything.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Slot& slot : slots_) {
      if (slot.is_used) {
        visit(slot.line, slot.record);
      }
    }
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.is_used) {
        visit(slot.line, slot.record);
      }
    }
  }
  /// Forgets the line, if it has a record; those behind it move up.
  void erase(std::uint64_t line) {
    std::size_t hole = slot_of(line);
    if (!slots_[hole].is_used) {
      return;
    }
    --size_;
    for (std::size_t at = next(hole); slots_[at].is_used; at = next(at)) {
      const std::size_t home = first_slot(slots_[at].line);
      if (((at - home) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = std::move(slots_[at]);
        hole = at;
      }
    }
    slots_[hole] = Slot{};
  }

 private:
  static constexpr std::size_t kFirstSlots = 64;
  static constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio
  struct Slot {
    std::uint64_t line = 0;
    bool is_used = false;
    Record record{};
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  std::size_t first_slot(std::uint64_t line) const {
    return static_cast<std::size_t>((line / kCxlLineBytes * kSpread) >> 32) & mask();
  }
  std::size_t slot_of(std::uint64_t line) const {
    std::size_t at = first_slot(line);
    while (slots_[at].is_used && slots_[at].line != line) {
      at = next(at);
    }
    return at;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.is_used) {
        slots_[slot_of(slot.line)] = std::move(slot);
      }
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace flitwise
