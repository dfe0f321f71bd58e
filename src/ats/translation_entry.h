// SPDX-License-Identifier: Apache-2.0
/// Naturally aligned power-of-two address ranges, and the S field that tells their size in
/// translation completions and Invalidate Requests; one translation as a completion carries it, and
/// what a function may do with it.
/// [SFE-01] to [SFE-14] [TCP-09] to [TCP-16]
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

/// Bits of an entry that came after revision 1.1 of ATS, which reserves them. unverified [TCP-25]
inline constexpr std::uint64_t kEntryExecute = 1U << 3, kEntryPrivileged = 1U << 4,
                               kEntryGlobal = 1U << 5;
/// CXL.io: what CXL adds to it, for requests from caches alone. unverified [TCP-27]
inline constexpr std::uint64_t kEntryForbidsCache = 1U << 9;

struct TranslationEntry {
  std::uint64_t translated = 0;                 ///< first byte; a multiple of the size
  std::uint8_t size_bits = kSmallestRangeBits;  ///< 12..63
  bool read = false;
  bool write = false;  ///< also zero-length reads
  bool execute = false;
  bool privileged = false;         ///< the permissions are those of privileged mode
  bool global = false;             ///< the same for all PASIDs; the ATC makes no use of it
  bool untranslated_only = false;  ///< U
  bool clears_no_snoop = false;    ///< N
  bool forbids_cache = false;      ///< CXL.io alone may go there [TCP-27]

  bool has_access() const { return read || write; }  ///< else a hole
  friend bool operator==(const TranslationEntry& a, const TranslationEntry& b) {
    return a.translated == b.translated && a.size_bits == b.size_bits && a.read == b.read &&
           a.write == b.write && a.execute == b.execute && a.privileged == b.privileged &&
           a.global == b.global && a.untranslated_only == b.untranslated_only &&
           a.clears_no_snoop == b.clears_no_snoop && a.forbids_cache == b.forbids_cache;
  }
};

/// No access, said in the smallest size that the function takes. [ATR-24]
constexpr TranslationEntry no_access_entry(unsigned stu) {
  TranslationEntry entry;
  entry.size_bits = static_cast<std::uint8_t>(stu_bits(stu));
  return entry;
}

/// The eight bytes as one number, address [63:12] on top. REQUIRES: translated is aligned.
std::uint64_t encode_entry(const TranslationEntry& entry);

/// What counts of an entry: of a hole only its size, with U no address and no N. has_pasid: its
/// request had a PASID; without one the bits that belong to PASIDs are reserved and ignored, and so
/// is that of CXL where no cache has asked. A size of 64 bits means that the size is undefined.
/// [TCP-09] [TCP-12] [TCP-25] [TCP-27]
TranslationEntry decode_entry(std::uint64_t bits, bool has_pasid, bool is_from_cache = false);

enum class AccessKind : std::uint8_t { kRead, kZeroLengthRead, kWrite, kExecute };

/// How a function may do an access whose translation it has.
enum class AccessChoice : std::uint8_t {
  kTranslated,    ///< AT=10 with the translated address
  kUntranslated,  ///< AT=00 only [TCP-12]
  kNotWithThis,   ///< the permission is missing: ask anew, or go untranslated [TCP-10] [TCP-11]
};
AccessChoice choice_for(const TranslationEntry& entry, AccessKind access);

}  // namespace flitwise
