// SPDX-License-Identifier: Apache-2.0
// Both sides of a Translation Request.
#include "ats/translation_request.h"

#include <algorithm>

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
  tlp.address = ask.address & ~std::uint64_t{3};
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

}  // namespace flitwise
