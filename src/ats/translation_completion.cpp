// SPDX-License-Identifier: Apache-2.0
// Replies of the translation agent, their checks and their assembly.
#include "ats/translation_completion.h"

#include <string>

#include "ats/ats_messages.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {
/// Whether an entry can stand in a reply of this size: accesses need exactly that, holes may be
/// parts of larger ones.
bool fits_size(const TranslationEntry& entry, unsigned size_bits) {
  return entry.has_access() ? entry.size_bits == size_bits : entry.size_bits >= size_bits;
}
}  // namespace

unsigned reply_length(const TranslationEntry* found, unsigned count, const Tlp& request,
                      unsigned stu) {
  const unsigned asked = translations_of(request);
  FLITWISE_CHECK(count >= 1 && count <= asked,
                 std::to_string(count) + " translations for " + std::to_string(asked));
  const unsigned size_bits = found[0].size_bits;
  FLITWISE_CHECK(size_bits >= stu_bits(stu), "a translation of 2^" + std::to_string(size_bits) +
                                                 " bytes, STU " + std::to_string(stu));
  if (!found[0].has_access()) {
    return 1;
  }
  const AddressSpan implied = implied_span(request.address, asked, stu);
  const PageRange first = PageRange::around(request.address, size_bits);
  unsigned length = 1;  // up to and with the last access
  std::uint64_t region_end = first.last();
  for (unsigned i = 1; i < count; ++i) {
    if (region_end >= implied.last || !fits_size(found[i], size_bits)) {
      break;
    }
    region_end += first.offset_mask() + 1;
    length = found[i].has_access() ? i + 1 : length;
  }
  return length;
}

void store_reply(std::uint8_t* payload, const TranslationEntry* found, unsigned length) {
  for (unsigned i = 0; i < length; ++i) {
    TranslationEntry entry = found[i];
    if (!entry.has_access()) {
      entry = TranslationEntry{};
      entry.size_bits = found[0].size_bits;
    }
    store_wire_u64(payload + kTranslationBytes * i, encode_entry(entry));
  }
}

// Behind an entry of another size, or behind the implied range, nothing is told.
std::optional<std::uint64_t> TranslationGather::next() const {
  if (count_ == 0) {
    return request_.address;
  }
  const unsigned asked = translations_of(request_);
  const TranslationEntry& first = found_[0];
  const PageRange region = PageRange::around(request_.address, first.size_bits);
  const std::uint64_t end = region.base + count_ * (region.offset_mask() + 1);
  const bool goes_on = count_ < asked && first.has_access() &&
                       fits_size(found_[count_ - 1], first.size_bits) && end > region.base &&
                       end <= implied_span(request_.address, asked, stu_).last;
  return goes_on ? std::optional<std::uint64_t>(end) : std::nullopt;
}

TranslationReply::TranslationReply(unsigned length, unsigned rcb_bytes, unsigned first_length)
    : rcb_(rcb_bytes),
      left_(length * kTranslationBytes),
      first_((first_length == 0 ? length : first_length) * kTranslationBytes) {
  FLITWISE_CHECK(length >= 1 && first_length < length && left_ <= rcb_bytes,
                 std::to_string(length) + " translations, RCB " + std::to_string(rcb_bytes));
}

bool TranslationReply::next(CompletionPiece& piece) {
  if (left_ == 0) {
    return false;
  }
  const bool is_second = offset_ != 0;
  const unsigned bytes = is_second ? left_ : first_;
  piece.bytes = bytes;
  piece.offset = offset_;
  piece.length_dw = static_cast<std::uint16_t>(bytes / 4);
  piece.byte_count = static_cast<std::uint16_t>(left_);
  // A whole RCB starts at its boundary.
  piece.lower_address = static_cast<std::uint8_t>(is_second ? 0U : rcb_ - bytes);
  offset_ += bytes;
  left_ -= bytes;
  return true;
}

Tlp translation_cpld(const Tlp& request, const CompletionPiece& piece) {
  Tlp completion;
  start_completion(completion, request);
  completion.type = TlpType::kCplD;
  completion.length_dw = piece.length_dw;
  completion.byte_count = piece.byte_count;
  completion.lower_address = piece.lower_address;
  return completion;
}

TranslationReceiver::TranslationReceiver(const Tlp& request, bool has_pasid, unsigned rcb_bytes,
                                         unsigned stu)
    : address_(request.address),
      rcb_(static_cast<std::uint16_t>(rcb_bytes)),
      asked_(static_cast<std::uint8_t>(translations_of(request))),
      stu_(static_cast<std::uint8_t>(stu)),
      has_pasid_(has_pasid),
      is_from_cache_((request.address & kCacheSource) != 0) {
  FLITWISE_CHECK(translations_of(request) >= 1 && translations_of(request) <= kMaxTranslations,
                 "Length " + std::to_string(request.length_dw));
}

TranslationVerdict TranslationReceiver::check(const Tlp& completion,
                                              const std::uint8_t* payload) const {
  const bool has_succeeded = completion.status == CplStatus::kSC;
  if (completion.type != TlpType::kCplD || !has_succeeded) {  // a reserved status counts as UR
    return has_succeeded                          ? TranslationVerdict::kIllegal
           : completion.status == CplStatus::kRRS ? TranslationVerdict::kMalformed
           : completion.status == CplStatus::kCA  ? TranslationVerdict::kAborted
                                                  : TranslationVerdict::kUnsupported;
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
