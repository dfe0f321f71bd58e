// SPDX-License-Identifier: Apache-2.0
// Checks of Translation Completions, and their assembly.
#include "ats/translation_receiver.h"

#include <string>

#include "ats/ats_messages.h"
#include "flitwise/error.h"

namespace flitwise {

TranslationReceiver::TranslationReceiver(const Tlp& request, bool has_pasid, unsigned rcb_bytes,
                                         unsigned stu)
    : address_(request.address),
      rcb_(static_cast<std::uint16_t>(rcb_bytes)),
      asked_(static_cast<std::uint8_t>(translations_of(request))),
      stu_(static_cast<std::uint8_t>(stu)),
      has_pasid_(has_pasid) {
  FLITWISE_CHECK(translations_of(request) >= 1 && translations_of(request) <= kMaxTranslations,
                 "Length " + std::to_string(request.length_dw));
}

TranslationVerdict TranslationReceiver::check(const Tlp& completion,
                                              const std::uint8_t* payload) const {
  if (completion.type != TlpType::kCplD || completion.status != CplStatus::kSC) {
    return check_without_data(completion);
  }
  if (completion.is_poisoned) {
    return TranslationVerdict::kAborted;
  }
  const TranslationVerdict counts = check_counts(completion);
  if (counts != TranslationVerdict::kPartial && counts != TranslationVerdict::kLast) {
    return counts;
  }
  const TranslationVerdict entries = check_entries(completion, payload);
  return entries == TranslationVerdict::kLast ? counts : entries;
}

// Every status but success. A reserved one counts as UR.
TranslationVerdict TranslationReceiver::check_without_data(const Tlp& completion) const {
  return completion.status == CplStatus::kSC    ? TranslationVerdict::kIllegal
         : completion.status == CplStatus::kRRS ? TranslationVerdict::kMalformed
         : completion.status == CplStatus::kCA  ? TranslationVerdict::kAborted
                                                : TranslationVerdict::kUnsupported;
}

TranslationVerdict TranslationReceiver::check_counts(const Tlp& completion) const {
  const unsigned bytes = completion.length_dw * 4U;
  const unsigned byte_count = completion.byte_count;
  if (bytes == 0 || bytes % kTranslationBytes != 0 || byte_count % kTranslationBytes != 0 ||
      byte_count < bytes) {
    return TranslationVerdict::kInconsistent;
  }
  if (count_ * kTranslationBytes + byte_count > asked_ * kTranslationBytes) {
    return TranslationVerdict::kTooMany;
  }
  const bool is_last = byte_count == bytes;
  if (count_ != 0) {  // At most two CplDs, the second one from the boundary on.
    return is_last && byte_count == due_ && completion.lower_address == 0
               ? TranslationVerdict::kLast
               : TranslationVerdict::kInconsistent;
  }
  const bool ends_at_boundary = (bytes + completion.lower_address) % rcb_ == 0;
  if (is_last) {
    return ends_at_boundary ? TranslationVerdict::kLast : TranslationVerdict::kLostFirst;
  }
  return ends_at_boundary ? TranslationVerdict::kPartial : TranslationVerdict::kInconsistent;
}

// kLast: nothing is wrong with them.
TranslationVerdict TranslationReceiver::check_entries(const Tlp& completion,
                                                      const std::uint8_t* payload) const {
  const unsigned added = completion.length_dw * 4U / kTranslationBytes;
  const unsigned size_bits =
      decode_entry(count_ != 0 ? entries_[0] : load_wire_u64(payload), has_pasid_).size_bits;
  for (unsigned i = 0; i < added; ++i) {
    const TranslationEntry entry =
        decode_entry(load_wire_u64(payload + kTranslationBytes * i), has_pasid_);
    if (entry.size_bits < stu_bits(stu_)) {
      return TranslationVerdict::kUnsupported;
    }
    if (entry.size_bits != size_bits || entry.size_bits >= kWholeSpaceBits) {
      return TranslationVerdict::kInconsistent;
    }
  }
  // The last one must still touch the implied range.
  const AddressSpan implied = implied_span(address_, asked_, stu_);
  const PageRange first = PageRange::around(address_, size_bits);
  const std::uint64_t regions_left = (implied.last - first.base) >> size_bits;
  return count_ + added - 1U <= regions_left ? TranslationVerdict::kLast
                                             : TranslationVerdict::kInconsistent;
}

void TranslationReceiver::accept(const Tlp& completion, const std::uint8_t* payload) {
  const unsigned added = completion.length_dw * 4U / kTranslationBytes;
  FLITWISE_CHECK(count_ + added <= asked_, std::to_string(count_ + added) + " translations");
  for (unsigned i = 0; i < added; ++i) {
    entries_[count_ + i] = load_wire_u64(payload + kTranslationBytes * i);
  }
  count_ = static_cast<std::uint8_t>(count_ + added);
  due_ = static_cast<std::uint16_t>(completion.byte_count - completion.length_dw * 4U);
}

PageRange TranslationReceiver::range(unsigned index) const {
  const unsigned size_bits = entry(0).size_bits;
  PageRange range = PageRange::around(address_, size_bits);
  range.base += std::uint64_t{index} << size_bits;
  return range;
}

}  // namespace flitwise
