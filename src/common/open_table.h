// SPDX-License-Identifier: Apache-2.0
/// Records found by key: open addressing, so that records that come and go allocate nothing.
/// Nothing depends on the order in which they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/fetch.h"

namespace flitwise {

/// 2^64 / golden ratio: a hash times this is spread.
inline constexpr std::uint64_t kGoldenSpread = 0x9e37'79b9'7f4a'7c15;

/// hash(key): its upper half names the slot, of which half are taken at most.
template <class Key, class Record, std::uint64_t (*hash)(const Key& key)>
class OpenTable {
 public:
  std::size_t size() const { return size_; }
  const Record* find(const Key& key) const {
    const std::size_t at = slot_of(key);
    return slots_[at].is_used ? &slots_[at].record : nullptr;
  }
  /// It will be asked for soon.
  void fetch(const Key& key) const { flitwise::fetch(&slots_[first_slot(key)], sizeof(Slot)); }
  Record* find(const Key& key) { return const_cast<Record*>(std::as_const(*this).find(key)); }
  /// The record of the key, a new one if it had none. Valid until the next one is made or erased.
  Record& operator[](const Key& key) {
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
    }
    Slot& slot = slots_[slot_of(key)];
    if (!slot.is_used) {
      slot = {key, true, Record{}};
      ++size_;
    }
    return slot.record;
  }
  /// void visit(const Key&, Record&), which makes and erases none. In no order that means anything.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (Slot& slot : slots_) {
      if (slot.is_used) {
        visit(slot.key, slot.record);
      }
    }
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.is_used) {
        visit(slot.key, slot.record);
      }
    }
  }
  /// Forgets the key, if it has a record; those behind it move up.
  void erase(const Key& key) {
    std::size_t hole = slot_of(key);
    if (!slots_[hole].is_used) {
      return;
    }
    --size_;
    for (std::size_t at = next(hole); slots_[at].is_used; at = next(at)) {
      const std::size_t home = first_slot(slots_[at].key);
      if (((at - home) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = std::move(slots_[at]);
        hole = at;
      }
    }
    slots_[hole] = Slot{};
  }

 private:
  struct Slot {
    Key key{};
    bool is_used = false;
    Record record{};
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  std::size_t first_slot(const Key& key) const {
    return static_cast<std::size_t>(hash(key) >> 32) & mask();
  }
  std::size_t slot_of(const Key& key) const {
    std::size_t at = first_slot(key);
    while (slots_[at].is_used && !(slots_[at].key == key)) {
      at = next(at);
    }
    return at;
  }
  [[gnu::noinline]] void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.is_used) {
        slots_[slot_of(slot.key)] = std::move(slot);
      }
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);  // a power of two
  std::size_t size_ = 0;
};

}  // namespace flitwise
