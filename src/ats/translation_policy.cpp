// SPDX-License-Identifier: Apache-2.0
// The policies, each a line or two.
#include "ats/translation_policy.h"

#include <string>

#include "ats/translation_request.h"
#include "flitwise/error.h"

namespace flitwise {

TranslationPolicy::TranslationPolicy(const AtcConfig& config, unsigned stu)
    : config_(config), shift_(stu_bits(stu)) {
  const bool is_power_of_two = (config.reuse_pages & (config.reuse_pages - 1)) == 0;
  FLITWISE_CHECK(
      config.reuse_threshold >= 1 && config.reuse_threshold <= 255 && config.reuse_pages >= 1 &&
          is_power_of_two && config.pages_ahead >= 1 && config.pages_ahead < kMaxTranslations,
      "reuse threshold " + std::to_string(config.reuse_threshold) + ", pages " +
          std::to_string(config.reuse_pages) + ", ahead " + std::to_string(config.pages_ahead));
  if (config.when == TranslateWhen::kReuse) {
    counts_.resize(config.reuse_pages);
  }
}

unsigned TranslationPolicy::translations_for(const MissedAccess& miss) const {
  switch (config_.when) {
    case TranslateWhen::kAlways: return 1;
    case TranslateWhen::kReuse: {
      const Count& count = counts_[index_of(miss)];
      return is_same(count, miss) && count.misses >= config_.reuse_threshold ? 1 : 0;
    }
    case TranslateWhen::kPrefetch: return 1 + config_.pages_ahead;
    case TranslateWhen::kHint: return miss.has_hint ? 1 : 0;
  }
  return 0;
}

void TranslationPolicy::note_miss(const MissedAccess& miss) {
  if (counts_.empty()) {
    return;
  }
  Count& count = counts_[index_of(miss)];
  if (!is_same(count, miss)) {
    count = {miss.address >> shift_, miss.pasid, 0};
  }
  count.misses += count.misses < config_.reuse_threshold ? 1U : 0U;
}

std::size_t TranslationPolicy::index_of(const MissedAccess& miss) const {
  const std::uint64_t pasid = miss.pasid.has_value() ? to_int(*miss.pasid) : 0;
  return ((miss.address >> shift_) ^ pasid) & (counts_.size() - 1);
}

bool TranslationPolicy::is_same(const Count& count, const MissedAccess& miss) const {
  return count.misses != 0 && count.page == miss.address >> shift_ && count.pasid == miss.pasid;
}

}  // namespace flitwise
