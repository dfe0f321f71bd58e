// SPDX-License-Identifier: Apache-2.0
// Both sides of a Translation Request, and the policies of asking, each a line or two.
#include "ats/translation_request.h"

#include <algorithm>
#include <string>

#include "common/page.h"
#include "flitwise/error.h"
#include "tlp/header_layout.h"

namespace flitwise {

namespace {
constexpr std::uint64_t kFourGiB = std::uint64_t{1} << 32;
constexpr std::uint8_t kWholeDw = 0xf;
}  // namespace

unsigned max_translations(const TranslationSettings& settings) {
  return std::min({settings.rcb_bytes, settings.mrrs_bytes, kMaxTranslations * kTranslationBytes}) /
         kTranslationBytes;
}

bool may_ask(const TranslationAsk& ask, const TranslationSettings& settings) {
  const bool breaks_pasid = !settings.has_pasid || (ask.execute && !settings.has_execute) ||
                            (ask.privileged && !settings.has_privileged);
  return settings.is_enabled && settings.is_bus_master && ask.translations != 0 &&
         ask.translations <= max_translations(settings) &&
         !(settings.is_page_aligned && (ask.address & kPageOffset) != 0) &&
         !(ask.pasid.has_value() && breaks_pasid);
}

Tlp translation_request_tlp(const TranslationAsk& ask, const TranslationSettings& settings,
                            Bdf function) {
  FLITWISE_CHECK(may_ask(ask, settings), "illegal Translation Request");
  Tlp tlp;
  tlp.type = TlpType::kMRd;
  tlp.at = AddressType::kTranslationRequest;
  tlp.is_4dw = ask.address >= kFourGiB;
  tlp.tc = ask.tc;
  tlp.length_dw = static_cast<std::uint16_t>(ask.translations * kTranslationBytes / 4);
  tlp.requester_id = function;
  tlp.first_be = tlp.last_be = kWholeDw;
  tlp.address = ask.address & ~(std::uint64_t{3} | kCacheSource);
  tlp.address |= ask.is_from_cache ? kCacheSource : 0;
  tlp.processing_hint = ask.no_write ? 1U << kNoWriteBit : 0U;
  if (ask.pasid.has_value()) {
    tlp.has_pasid = true;
    tlp.pasid = *ask.pasid;
    tlp.privileged_mode_requested = ask.privileged;
    tlp.execute_requested = ask.execute;
  }
  return tlp;
}

bool is_legal_translation_request(const Tlp& request, unsigned rcb_bytes) {
  const unsigned bytes = request.length_dw * 4U;
  return bytes != 0 && bytes % kTranslationBytes == 0 && bytes <= rcb_bytes;
}

AddressSpan implied_span(std::uint64_t address, unsigned translations, unsigned stu) {
  const std::uint64_t first = address & ~PageRange::mask_of(stu_bits(stu));
  const std::uint64_t bytes = std::uint64_t{translations} << stu_bits(stu);
  const std::uint64_t to_the_end = ~first;  // bytes behind the first one
  return {first, first + std::min(bytes - 1, to_the_end)};
}

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
