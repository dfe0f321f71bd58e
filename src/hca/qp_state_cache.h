// SPDX-License-Identifier: Apache-2.0
/// The QP-state cache (QPSC) of a host channel adapter: which queue pairs have their state in the
/// adapter, and in which entry. The state itself is its owner's, an array by entry.
/// [HP-2] [HP-3] [HP-4]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/open_table.h"
#include "common/ranges.h"
#include "common/slot_list.h"

namespace flitwise {

/// A queue pair by its function, 0 for the physical one, and its number there. [HP-4]
struct QpTag {
  std::uint32_t function = 0;
  std::uint32_t number = 0;  ///< 24 bits
  friend bool operator==(QpTag a, QpTag b) {
    return a.function == b.function && a.number == b.number;
  }
};
inline std::uint64_t hash_of(const QpTag& tag) {
  return (std::uint64_t{tag.function} << 24 ^ tag.number) * kGoldenSpread;
}

enum class QpEntryState : std::uint8_t { kInvalid, kFetching, kValid, kDirty };
constexpr const char* name_of(QpEntryState state) {
  constexpr const char* kNames[] = {"INVALID", "FETCHING", "VALID", "DIRTY"};
  return name_in(kNames, state);
}

struct QpLookup {
  enum class Outcome : std::uint8_t {
    kHit,
    kFetch,  ///< the caller reads the state from memory, then calls end_fetch()
    kWait,   ///< another has begun to read it
    kStall   ///< every way of its set is pinned: nothing has changed
  };
  Outcome outcome = Outcome::kStall;
  Slot entry = kNoSlot;  ///< none where it stalls
  /// Of kFetch: the state that the entry still holds. The caller writes it to memory before it
  /// reads the new one. [HP-3]
  std::optional<QpTag> writes_back;
};
constexpr const char* name_of(QpLookup::Outcome outcome) {
  constexpr const char* kNames[] = {"hit", "fetch", "wait", "stall"};
  return name_in(kNames, outcome);
}

/// All of it costs the same with any number of entries, but for reset(); memory is taken at
/// construction, and the index grows with the entries in use.
class QpStateCache {
 public:
  struct Counts {
    std::uint64_t hits = 0, fetches = 0, waits = 0, stalls = 0, write_backs = 0;
  };

  /// REQUIRES: entries > 0; ways divides it, or is 0: fully associative.
  QpStateCache(unsigned entries, unsigned ways);

  /// Each entry that it names is pinned once more: unpin() when the work with it is done.
  QpLookup look_up(QpTag tag);
  /// Would look_up() find an entry or a way for it now?
  bool has_room_for(QpTag tag) const {
    return index_.find(tag) != nullptr || can_allocate(set_of(tag));
  }
  /// The state has come; not is_good: it could not be read. False: whoever waits for it gets none,
  /// since it could not be read or its function was reset meanwhile. REQUIRES: its look-up said
  /// kFetch, and this is the first call since.
  bool end_fetch(Slot slot, bool is_good);
  /// Work has changed the state. Nothing where its function was reset. REQUIRES: pinned.
  void mark_dirty(Slot slot);
  /// By other work too. REQUIRES: pinned.
  void pin_again(Slot slot) { ++entries_[slot].pins; }
  /// REQUIRES: pinned.
  void unpin(Slot slot);
  /// All entries of a function are INVALID, and nothing of them is written back. Those that are
  /// pinned take no other queue pair before the last of that work is done. [HP-4]
  void reset(std::uint32_t function);

  /// None where it has no entry.
  std::optional<Slot> find(QpTag tag) const;
  QpEntryState state(Slot slot) const { return entries_[slot].state; }
  unsigned pins(Slot slot) const { return entries_[slot].pins; }
  const Counts& counts() const { return counts_; }

 private:
  struct Entry {
    QpTag tag;
    QpEntryState state = QpEntryState::kInvalid;
    std::uint32_t pins = 0;  // work, and the fetch itself
  };
  /// Ways that nothing pins: those without a state, and the others, oldest use first.
  struct Set {
    SlotList invalid, idle;
  };

  /// model: the low bits of the number choose the set, with those of the function.
  std::size_t set_of(QpTag tag) const { return (tag.number ^ tag.function) % sets_.size(); }
  bool can_allocate(std::size_t set) const {
    return sets_[set].invalid.size() + sets_[set].idle.size() > 0;
  }
  void pin(Slot slot);
  void invalidate(Entry& entry);

  unsigned ways_;
  std::vector<Entry> entries_;
  std::vector<Set> sets_;
  OpenTable<QpTag, Slot, hash_of> index_;
  Counts counts_;
};

}  // namespace flitwise
