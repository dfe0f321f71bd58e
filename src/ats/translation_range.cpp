// SPDX-License-Identifier: Apache-2.0
// The S field, both ways.
#include "ats/translation_range.h"

#include <string>

#include "common/page.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {
static_assert(kPageBytes == 1U << kSmallestRangeBits);
constexpr unsigned kSmallestWithS = 13;  ///< 8 KiB: S set and no ones above
}  // namespace

SizeField encode_range(const PageRange& range) {
  FLITWISE_CHECK(range.size_bits >= kSmallestRangeBits && range.size_bits <= kWholeSpaceBits,
                 "size of a range: 2^" + std::to_string(range.size_bits));
  FLITWISE_CHECK((range.base & range.offset_mask()) == 0,
                 "a range of 2^" + std::to_string(range.size_bits) + " bytes that is not aligned");
  if (range.size_bits == kSmallestRangeBits) {
    return {range.base, false};
  }
  const unsigned size_bit = range.size_bits - 1U;
  return {range.base | (PageRange::mask_of(size_bit) & kPageAddress), true};
}

DecodedRange decode_range(std::uint64_t address, bool s) {
  if (!s) {
    return {PageRange::around(address, kSmallestRangeBits), false};
  }
  const std::uint64_t zeros = ~(address | kPageOffset);
  if (zeros == 0) {
    return {PageRange::everything(), true};
  }
  const unsigned ones = static_cast<unsigned>(__builtin_ctzll(zeros)) - kSmallestRangeBits;
  return {PageRange::around(address, kSmallestWithS + ones), false};
}

PageRange enclosing_range(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t differing = (first ^ last) | kPageOffset;
  const unsigned bits = kWholeSpaceBits - static_cast<unsigned>(__builtin_clzll(differing));
  return PageRange::around(first, bits);
}

}  // namespace flitwise
