// SPDX-License-Identifier: Apache-2.0
/// Everything that one function keeps for ATS, and the events that touch more than one part of it.
/// [TCP-04] [TCP-17] [TCP-18] [CFG-01] to [CFG-08]
#pragma once

#include "ats/invalidation.h"
#include "ats/outstanding_translations.h"
#include "ats/translated_uses.h"
#include "ats/translation_cache.h"
#include "ats/translation_completion.h"
#include "flitwise/error.h"

namespace flitwise {

struct FunctionAtcConfig {
  TranslationCacheConfig cache;
  unsigned requests = 32;  ///< Translation Requests that may be out, 1..
  unsigned uses = 256;     ///< requests by translated addresses that may be under way, 1..
  AtcDiscard discards = AtcDiscard::kOverlapping;
  InvalidationReceiverConfig invalidations;
};

/// The parts may be used directly; what couples them goes through the functions here.
struct FunctionAtc {
  explicit FunctionAtc(const FunctionAtcConfig& config)
      : cache(config.cache),
        requests(config.requests, config.discards),
        uses(config.uses),
        invalidations(config.invalidations, cache, requests, uses, writes) {}
  FunctionAtc(const FunctionAtc&) = delete;  // The receiver refers to the other parts.
  FunctionAtc& operator=(const FunctionAtc&) = delete;

  /// Software wrote the ATS capability. When Enable changes, replies to what is out are void.
  /// [TCP-17] [TCP-18] [CFG-01] [CFG-02]
  void set_control(bool is_enabled, unsigned stu) {
    if (is_enabled != cache.is_enabled()) {
      requests.void_all();
    }
    cache.set_enabled(is_enabled);
    invalidations.set_stu(stu);
  }
  /// Function level or conventional reset. The caller's own slots are void, too.
  /// [CFG-03] [CFG-04]
  void reset() {
    cache.reset();
    requests.clear();
    writes.clear();
    invalidations.reset();
    invalidations.set_stu(0);
  }

  /// A request has ended with this verdict: its translations are cached after kLast, the ATC goes
  /// off after kUnsupported, also where an invalidation has struck the translations meanwhile.
  /// Returns how many entries were made. REQUIRES: the verdict is not kPartial. [TCP-04] [TCP-09]
  unsigned end_request(Slot request, TranslationVerdict verdict, const TranslationReceiver& reply) {
    FLITWISE_CHECK(verdict != TranslationVerdict::kPartial, "a reply that goes on");
    unsigned inserted = 0;
    if (verdict == TranslationVerdict::kLast) {
      for (const CacheablePiece& piece : requests.cacheable(request, reply)) {
        const bool is_in = cache.insert(piece.range, requests.tag_of(request), piece.translation);
        inserted += is_in ? 1U : 0U;
      }
    } else if (verdict == TranslationVerdict::kUnsupported && !requests.is_void(request)) {
      cache.disable_until_reenabled();
    }
    requests.close(request);
    return inserted;
  }

  TranslationCache cache;
  OutstandingTranslations requests;
  TranslatedUses uses;
  PostedWrites writes;
  InvalidationReceiver invalidations;
};

}  // namespace flitwise
