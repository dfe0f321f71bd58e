// SPDX-License-Identifier: Apache-2.0
/// The permission table of Secure ATS: what a domain may do with each physical page. Its layout is
/// ours, no public source has one. [IOM-2.15] [IOM-2.16]
#pragma once

#include <cstdint>

#include "iommu/entries.h"

namespace flitwise {

/// The quadword of a PASID table entry that points to the domain's table. model
inline constexpr unsigned kPermissionQuad = 3;

/// Its bits below the address of the table, 63:12. [IOM-2.15]
namespace permission_pointer {
inline constexpr std::uint64_t kEnable = 1;
inline constexpr std::uint64_t kTrusted = 2;  ///< for requests with trust, and no others [SEC-06]
}  // namespace permission_pointer

/// log2 of what a word of eight bytes tells of: 32 pages at level 1, a table below it above.
constexpr unsigned permission_word_bits(unsigned level) {
  return 17 + kLevelBits * (level - 1);
}
/// log2 of what a table of this level covers: 64 MiB at level 1, 32 GiB, 16 TiB, 8 PiB.
constexpr unsigned permission_table_bits(unsigned level) {
  return permission_word_bits(level) + kLevelBits;
}
/// As many as the physical addresses of the host need. [IOM-2.16]
constexpr unsigned permission_levels(unsigned host_address_bits) {
  unsigned levels = 1;
  while (permission_table_bits(levels) < host_address_bits) {
    ++levels;
  }
  return levels;
}
inline constexpr unsigned kMaxPermissionLevels = permission_levels(52);

/// Offset in bytes of the word of `address` in its table of this level.
constexpr std::uint64_t permission_word_offset(std::uint64_t address, unsigned level) {
  return (address >> permission_word_bits(level) & 0x1ffU) * kPageEntryBytes;
}

/// Position of the two bits of a page in its word: read the lower one, write above.
constexpr unsigned permission_shift(std::uint64_t address) {
  return static_cast<unsigned>(address >> kPageBits & 0x1fU) * 2;
}

struct PagePermission {
  bool read = false, write = false;
};

/// Eight bytes of a permission table, and the level of that table. A word names permissions or a
/// table, never both. [IOM-2.16]
struct PermissionWord {
  static constexpr std::uint64_t kPresent = 1, kRead = 2, kWrite = 4,
                                 kLarge = 0x80;  ///< above level 1

  std::uint64_t raw = 0;
  std::uint8_t level = 1;

  bool is_present() const { return level == 1 || (raw & kPresent) != 0; }
  /// It names permissions rather than a table. REQUIRES: present.
  bool is_leaf() const { return level == 1 || (raw & kLarge) != 0; }
  /// REQUIRES: present.
  bool has_reserved(const IommuCapabilities& offers) const {
    constexpr std::uint64_t kReserved = 0xf78;  // of words above level 1
    const std::uint64_t other =
        is_leaf() ? bits_from(kPageBits) : kRead | kWrite | bits_from(offers.host_address_bits);
    return level > 1 && (raw & (kReserved | other)) != 0;
  }
  std::uint64_t table() const { return raw & bits_from(kPageBits); }
  /// REQUIRES: present, a leaf, and the address is in its range.
  PagePermission of(std::uint64_t address) const {
    if (level > 1) {
      return {(raw & kRead) != 0, (raw & kWrite) != 0};
    }
    const std::uint64_t bits = raw >> permission_shift(address);
    return {(bits & 1U) != 0, (bits & 2U) != 0};
  }
};

}  // namespace flitwise
