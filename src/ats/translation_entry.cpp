// SPDX-License-Identifier: Apache-2.0
// The S field, both ways, and bits of a translation completion's entry.
#include "ats/translation_entry.h"

#include <string>

#include "common/page.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {
static_assert(kPageBytes == 1U << kSmallestRangeBits);
constexpr unsigned kSmallestWithS = 13;  ///< 8 KiB: S set and no ones above

constexpr std::uint64_t kRead = 1U << 0, kWrite = 1U << 1, kUntranslatedOnly = 1U << 2,
                        kNoSnoopCleared = 1U << 10, kSize = 1U << 11;

constexpr std::uint64_t flag_if(bool condition, std::uint64_t bit) {
  return condition ? bit : 0;
}
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

std::uint64_t encode_entry(const TranslationEntry& entry) {
  const SizeField field = encode_range({entry.translated, entry.size_bits});
  return field.address | flag_if(field.s, kSize) | flag_if(entry.read, kRead) |
         flag_if(entry.write, kWrite) | flag_if(entry.execute, kEntryExecute) |
         flag_if(entry.privileged, kEntryPrivileged) | flag_if(entry.global, kEntryGlobal) |
         flag_if(entry.untranslated_only, kUntranslatedOnly) |
         flag_if(entry.clears_no_snoop, kNoSnoopCleared) |
         flag_if(entry.forbids_cache, kEntryForbidsCache);
}

TranslationEntry decode_entry(std::uint64_t bits, bool has_pasid, bool is_from_cache) {
  const DecodedRange decoded = decode_range(bits, (bits & kSize) != 0);
  TranslationEntry entry;
  entry.size_bits = decoded.range.size_bits;
  entry.read = (bits & kRead) != 0;
  entry.write = (bits & kWrite) != 0;
  if (!entry.has_access()) {
    return entry;
  }
  entry.execute = has_pasid && entry.read && (bits & kEntryExecute) != 0;
  entry.privileged = has_pasid && (bits & kEntryPrivileged) != 0;
  entry.global = has_pasid && (bits & kEntryGlobal) != 0;
  entry.untranslated_only = (bits & kUntranslatedOnly) != 0;
  if (!entry.untranslated_only) {
    entry.translated = decoded.range.base;
    entry.clears_no_snoop = (bits & kNoSnoopCleared) != 0;
    entry.forbids_cache = is_from_cache && (bits & kEntryForbidsCache) != 0;
  }
  return entry;
}

AccessChoice choice_for(const TranslationEntry& entry, AccessKind access) {
  const bool is_allowed[] = {entry.read, entry.has_access(), entry.write,
                             entry.read && entry.execute};  // by AccessKind
  if (!is_allowed[static_cast<unsigned>(access)]) {
    return AccessChoice::kNotWithThis;
  }
  return entry.untranslated_only ? AccessChoice::kUntranslated : AccessChoice::kTranslated;
}

}  // namespace flitwise
