// SPDX-License-Identifier: Apache-2.0
// Where a reply goes on, and where it ends.
#include "ats/translation_gather.h"

#include "ats/translation_completion.h"

namespace flitwise {

void TranslationGather::add(const TranslationEntry& entry) {
  found_[count_] = entry;
  ++count_;
}

// Behind an entry of another size, or behind the implied range, nothing is told.
std::optional<std::uint64_t> TranslationGather::next() const {
  if (count_ == 0) {
    return request_.address;
  }
  const unsigned asked = translations_of(request_);
  const TranslationEntry& first = found_[0];
  const TranslationEntry& latest = found_[count_ - 1];
  const bool fits = latest.has_access() ? latest.size_bits == first.size_bits
                                        : latest.size_bits >= first.size_bits;
  if (count_ == asked || !first.has_access() || !fits) {
    return std::nullopt;
  }
  const PageRange region = PageRange::around(request_.address, first.size_bits);
  const std::uint64_t end = region.base + count_ * (region.offset_mask() + 1);
  const bool is_inside =
      end > region.base && end <= implied_span(request_.address, asked, stu_).last;
  return is_inside ? std::optional<std::uint64_t>(end) : std::nullopt;
}

unsigned TranslationGather::length() const {
  return reply_length(found_.data(), count_, request_, stu_);
}

}  // namespace flitwise
