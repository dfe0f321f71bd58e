// SPDX-License-Identifier: Apache-2.0
/// What a function has under way with translated addresses: uses that an invalidation must wait
/// for, and traffic classes with posted writes that an Invalidate Completion must push.
/// [INV-04] [INV-07] [INV-08]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ats/translation_cache.h"
#include "common/slot_list.h"

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
  Slot open(const AddressSpan& untranslated, OptionalId<Pasid> pasid);
  /// The use has ended. Returns the ITags of the invalidations that wait for it, as bits.
  std::uint32_t close(Slot slot);
  /// Has every open use of the range be waited for by this ITag; returns how many there are.
  unsigned hold(const PageRange& range, const InvalidationScope& scope, unsigned itag);
  /// A reset: all have ended, and none is waited for.
  void clear();

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
  std::uint8_t open_classes() const;
  void clear() { issued_ = pushed_ = {}; }

 private:
  std::array<std::uint64_t, 8> issued_{};
  std::array<std::uint64_t, 8> pushed_{};
};

}  // namespace flitwise
