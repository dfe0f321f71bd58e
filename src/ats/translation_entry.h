// SPDX-License-Identifier: Apache-2.0
/// One translation as a completion carries it, and what a function may do with it.
/// [TCP-09] to [TCP-16]
#pragma once

#include <cstdint>

#include "ats/translation_range.h"

namespace flitwise {

/// Bits of an entry that came after ATS 1.1, where they were reserved. unverified [TCP-25]
inline constexpr std::uint64_t kEntryExecute = 1U << 3, kEntryPrivileged = 1U << 4,
                               kEntryGlobal = 1U << 5;

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

  bool has_access() const { return read || write; }  ///< else a hole
  friend bool operator==(const TranslationEntry& a, const TranslationEntry& b) {
    return a.translated == b.translated && a.size_bits == b.size_bits && a.read == b.read &&
           a.write == b.write && a.execute == b.execute && a.privileged == b.privileged &&
           a.global == b.global && a.untranslated_only == b.untranslated_only &&
           a.clears_no_snoop == b.clears_no_snoop;
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
/// request had a PASID; without one the bits that belong to PASIDs are reserved and ignored. A size
/// of 64 bits means that the size is undefined.
/// [TCP-09] [TCP-12] [TCP-25]
TranslationEntry decode_entry(std::uint64_t bits, bool has_pasid);

enum class AccessKind : std::uint8_t { kRead, kZeroLengthRead, kWrite, kExecute };

/// How a function may do an access whose translation it has.
enum class AccessChoice : std::uint8_t {
  kTranslated,    ///< AT=10 with the translated address
  kUntranslated,  ///< AT=00 only [TCP-12]
  kNotWithThis,   ///< the permission is missing: ask anew, or go untranslated [TCP-10] [TCP-11]
};
AccessChoice choice_for(const TranslationEntry& entry, AccessKind access);

}  // namespace flitwise
