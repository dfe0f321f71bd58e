// SPDX-License-Identifier: Apache-2.0
/// Naturally aligned power-of-two address ranges, and the S field that tells their size in
/// translation completions and Invalidate Requests.
/// [SFE-01] to [SFE-14]
#pragma once

#include <cstdint>

namespace flitwise {

inline constexpr unsigned kSmallestRangeBits = 12;  ///< 4 KiB
inline constexpr unsigned kWholeSpaceBits = 64;     ///< "everything" [SFE-07]

/// 2^size_bits bytes, naturally aligned. Also the whole address space, which has no size in 64
/// bits.
struct PageRange {
  std::uint64_t base = 0;
  std::uint8_t size_bits = kSmallestRangeBits;  ///< 12..64

  /// The aligned range of this size that holds an address. REQUIRES: 12 <= bits <= 64.
  static constexpr PageRange around(std::uint64_t address, unsigned bits) {
    return {address & ~mask_of(bits), static_cast<std::uint8_t>(bits)};
  }
  static constexpr PageRange everything() { return {0, kWholeSpaceBits}; }
  static constexpr std::uint64_t mask_of(unsigned bits) {
    return bits >= kWholeSpaceBits ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  }

  constexpr std::uint64_t offset_mask() const { return mask_of(size_bits); }
  constexpr std::uint64_t last() const { return base | offset_mask(); }  ///< its last byte
  constexpr bool contains(std::uint64_t address) const {
    return ((address ^ base) & ~offset_mask()) == 0;
  }
  constexpr bool overlaps(const PageRange& other) const {
    return base <= other.last() && other.base <= last();
  }
  friend constexpr bool operator==(const PageRange& a, const PageRange& b) {
    return a.base == b.base && a.size_bits == b.size_bits;
  }
};

/// Bytes from first to last, both included: what a Translation Request of several STUs covers. It
/// need not be aligned to its size. REQUIRES: first <= last.
struct AddressSpan {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  constexpr bool overlaps(const PageRange& range) const {
    return first <= range.last() && range.base <= last;
  }
};

/// log2 of the smallest translation unit in bytes. REQUIRES: stu <= 31.
constexpr unsigned stu_bits(unsigned stu) {
  return kSmallestRangeBits + stu;
}

/// Address [63:12] with the size encoded in its low bits, and the S bit.
struct SizeField {
  std::uint64_t address = 0;
  bool s = false;
};

/// The address of the range with ones below its size bit and a zero at it, whatever the caller had
/// there. REQUIRES: range is aligned, 12 <= size_bits <= 64.
/// [SFE-12] [SFE-13]
SizeField encode_range(const PageRange& range);

struct DecodedRange {
  PageRange range;
  bool is_undefined = false;  ///< S with [63:12] all ones: the range is everything [SFE-08]
};
/// Bits [11:0] of the address are ignored.
/// [SFE-01] to [SFE-08]
DecodedRange decode_range(std::uint64_t address, bool s);

/// The smallest naturally aligned range that holds both bytes, at least 4 KiB. REQUIRES: first <=
/// last.
PageRange enclosing_range(std::uint64_t first, std::uint64_t last);

/// The range, grown to at least one STU. [INV-21]
constexpr PageRange rounded_up_to_stu(const PageRange& range, unsigned stu) {
  return range.size_bits >= stu_bits(stu) ? range : PageRange::around(range.base, stu_bits(stu));
}

}  // namespace flitwise
