// SPDX-License-Identifier: Apache-2.0
/// One TLP as translations see it, and a transfer of a function shell that waits for a translation,
/// or behind one that does.
#pragma once

#include <cstdint>
#include <optional>

#include "ats/translation_cache.h"
#include "ats/translation_entry.h"
#include "common/slot_list.h"
#include "endpoint/engine.h"
#include "flitwise/time.h"
#include "flitwise/tlp.h"

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

/// What a parked transfer waits for.
enum class ParkedState : std::uint8_t {
  kReady,         ///< its turn
  kWantsRequest,  ///< room for its Translation Request
  kAwaitsReply,   ///< a Translation Completion
  kWantsPage,     ///< credits for its Page Request
  kAwaitsPage,    ///< a PRG Response
  kGoing,         ///< nothing here: its TLPs go out now
};
inline constexpr std::size_t kParkedStates = 6;

/// What the agent has said of the TLP that goes next, beside what the ATC knows.
enum class AgentAnswer : std::uint8_t {
  kNone,     ///< nothing, or it is to be asked again
  kRefused,  ///< no access of this kind
  kVoid,     ///< nothing that makes sense: it goes untranslated
};

/// One transfer, where it stands.
struct ParkedTransfer {
  TransferCursor cursor;
  AtsAccess access;  ///< of the TLP that goes next
  Tlp shape;         ///< kind, attributes and identity of its TLPs
  ParkedState state = ParkedState::kReady;
  Time when{};                  ///< kReady: not before
  Time since{};                 ///< the state lasts
  Slot request = 0;             ///< kAwaitsReply: of the function's Translation Requests
  std::uint16_t prg_index = 0;  ///< kAwaitsPage
  unsigned group_pages = 1;     ///< likewise: pages of the group that it knows of, from its own on
  AgentAnswer answer = AgentAnswer::kNone;
  bool has_asked = false;    ///< for the translation of this TLP
  bool was_counted = false;  ///< the look-up for this TLP is in the statistics
  /// What the reply said of this piece, or the cache when it was looked up, should the cache have
  /// given it up by the time of its turn.
  std::optional<TranslationCache::Entry> grant;
  bool is_hit = false;  ///< the grant is the cache's, and for this TLP alone
};

}  // namespace flitwise
