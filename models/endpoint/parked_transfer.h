// SPDX-License-Identifier: Apache-2.0
/// A transfer of a function shell that waits for a translation, or behind one that does.
#pragma once

#include <cstdint>
#include <optional>

#include "ats/translation_cache.h"
#include "endpoint/ats_access.h"
#include "endpoint/engine.h"
#include "flitwise/time.h"
#include "flitwise/tlp.h"

namespace flitwise {

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
  AgentAnswer answer = AgentAnswer::kNone;
  bool has_asked = false;    ///< for the translation of this TLP
  bool was_counted = false;  ///< the look-up for this TLP is in the statistics
  /// What the reply said of this piece, or the cache when it was looked up, should the cache have
  /// given it up by the time of its turn.
  std::optional<TranslationCache::Entry> grant;
  bool is_hit = false;  ///< the grant is the cache's, and for this TLP alone
};

}  // namespace flitwise
