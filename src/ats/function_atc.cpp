// SPDX-License-Identifier: Apache-2.0
// Events of one function's ATC.
#include "ats/function_atc.h"

#include "flitwise/error.h"

namespace flitwise {

FunctionAtc::FunctionAtc(const FunctionAtcConfig& config)
    : cache(config.cache),
      requests(config.requests, config.discards),
      uses(config.uses),
      invalidations(config.invalidations, cache, requests, uses, writes) {}

void FunctionAtc::set_control(bool is_enabled, unsigned stu) {
  if (is_enabled != cache.is_enabled()) {
    requests.void_all();
  }
  cache.set_enabled(is_enabled);
  invalidations.set_stu(stu);
}

void FunctionAtc::reset() {
  cache.reset();
  requests.clear();
  writes.clear();
  invalidations.reset();
  invalidations.set_stu(0);
}

unsigned FunctionAtc::end_request(Slot request, TranslationVerdict verdict,
                                  const TranslationReceiver& reply) {
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

}  // namespace flitwise
