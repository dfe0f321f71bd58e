// SPDX-License-Identifier: Apache-2.0
// Replies of the translation agent.
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

}  // namespace flitwise
