// SPDX-License-Identifier: Apache-2.0
// Uses of translations, and who waits for them.
#include "ats/translated_uses.h"

#include <string>

#include "flitwise/error.h"

namespace flitwise {

Slot TranslatedUses::open(const AddressSpan& untranslated, OptionalId<Pasid> pasid) {
  FLITWISE_CHECK(has_room(), std::to_string(slots_.used().size()) + " uses of translations");
  const Slot slot = slots_.take();
  uses_[slot] = {untranslated, pasid, 0};
  return slot;
}

std::uint32_t TranslatedUses::close(Slot slot) {
  FLITWISE_CHECK(slots_.used().contains(slot), "a use of a translation ends twice");
  slots_.give_back(slot);
  return uses_[slot].waiting;
}

unsigned TranslatedUses::hold(const PageRange& range, const InvalidationScope& scope,
                              unsigned itag) {
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

void TranslatedUses::clear() {
  while (const std::optional<Slot> slot = slots_.used().front()) {
    close(*slot);
  }
}

std::uint8_t PostedWrites::open_classes() const {
  unsigned classes = 0;
  for (unsigned tc = 0; tc < issued_.size(); ++tc) {
    classes |= issued_[tc] > pushed_[tc] ? 1U << tc : 0U;
  }
  return static_cast<std::uint8_t>(classes);
}

}  // namespace flitwise
