// SPDX-License-Identifier: Apache-2.0
/// What a function has under way with translated addresses: uses that an invalidation must wait
/// for, and traffic classes with posted writes that an Invalidate Completion must push.
/// [INV-04] [INV-07] [INV-08]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ats/translation_cache.h"
#include "common/slot_list.h"
#include "flitwise/error.h"

namespace flitwise {

/// Requests that have taken a translation and may still read or change memory by it: a read until
/// its last completion, a write until it stands in the posted queue of its traffic class.
class TranslatedUses {
 public:
  /// capacity: uses that may be open at once, 1...
  explicit TranslatedUses(unsigned capacity) : uses_(capacity), slots_(capacity) {}

  bool has_room() const { return slots_.free() != 0; }
  unsigned size() const { return slots_.used().size(); }
  /// Untranslated addresses of the request. REQUIRES: has_room().
  Slot open(const AddressSpan& untranslated, OptionalId<Pasid> pasid) {
    FLITWISE_CHECK(has_room(), std::to_string(size()) + " uses of translations");
    const Slot slot = slots_.take();
    uses_[slot] = {untranslated, pasid, 0};
    return slot;
  }
  /// The use has ended. Returns the ITags of the invalidations that wait for it, as bits.
  std::uint32_t close(Slot slot) {
    FLITWISE_CHECK(slots_.used().contains(slot), "a use of a translation ends twice");
    slots_.give_back(slot);
    return uses_[slot].waiting;
  }
  /// Has every open use of the range be waited for by this ITag; returns how many there are.
  unsigned hold(const PageRange& range, const InvalidationScope& scope, unsigned itag) {
    unsigned held = 0;
    for (std::optional<Slot> slot = slots_.used().front(); slot; slot = slots_.used().next(*slot)) {
      Use& use = uses_[*slot];
      if (use.span.overlaps(range) && scope.covers(use.pasid)) {
        use.waiting |= 1U << itag;
        ++held;
      }
    }
    return held;
  }
  /// A reset: all have ended, and none is waited for.
  void clear() {
    while (const std::optional<Slot> slot = slots_.used().front()) {
      close(*slot);
    }
  }

 private:
  struct Use {
    AddressSpan span;
    OptionalId<Pasid> pasid;
    std::uint32_t waiting = 0;  ///< bit n: ITag n
  };
  std::vector<Use> uses_;
  SlotPool slots_;
};

/// Which traffic classes have translated posted writes that are not known to have reached the
/// translation agent.
class PostedWrites {
 public:
  /// A translated write stands in the posted queue of a traffic class, 0..7.
  void note_write(unsigned tc) { ++issued_[tc]; }
  /// What the completion of a read that is issued now will show to be pushed. [INV-07]
  std::uint64_t issued(unsigned tc) const { return issued_[tc]; }
  /// Such a completion came.
  void note_pushed(unsigned tc, std::uint64_t issued) {
    pushed_[tc] = issued > pushed_[tc] ? issued : pushed_[tc];
  }
  /// Bit n: traffic class n.
  std::uint8_t open_classes() const {
    unsigned classes = 0;
    for (unsigned tc = 0; tc < issued_.size(); ++tc) {
      classes |= issued_[tc] > pushed_[tc] ? 1U << tc : 0U;
    }
    return static_cast<std::uint8_t>(classes);
  }
  void clear() { issued_ = pushed_ = {}; }

 private:
  std::array<std::uint64_t, 8> issued_{};
  std::array<std::uint64_t, 8> pushed_{};
};

}  // namespace flitwise
