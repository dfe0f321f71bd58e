// SPDX-License-Identifier: Apache-2.0
/// One TLP as translations see it: what it touches, and how it goes on.
#pragma once

#include <cstdint>

#include "ats/translation_cache.h"
#include "ats/translation_entry.h"
#include "ats/translation_range.h"
#include "flitwise/time.h"

namespace flitwise {

/// What one TLP is about to do.
struct AtsAccess {
  unsigned function = 0;
  TranslationTag tag;
  std::uint64_t address = 0;  ///< of its first DW
  unsigned dws = 1;
  AccessKind kind = AccessKind::kRead;
  bool has_hint = false;  ///< software calls its buffer worth a translation
  bool counts = true;     ///< it belongs to the measured part

  AddressSpan span() const { return {address, address + 4U * dws - 1U}; }
};

/// How one TLP goes on.
struct AtsRoute {
  enum class Kind : std::uint8_t {
    kUntranslated,  ///< AT=00
    kTranslated,    ///< AT=10 at `address`
    kAsk,           ///< not before a Translation Request is answered
    kRefused,       ///< the agent does not allow it: by a page request, or untranslated
  };
  Kind kind = Kind::kUntranslated;
  std::uint64_t address = 0;
  const TranslationCache::Entry* entry = nullptr;  ///< kTranslated: by it; until the cache changes
  unsigned translations = 0;                       ///< kAsk: so many at a time
  Time latency{};                                  ///< of the look-up
};

}  // namespace flitwise
