// SPDX-License-Identifier: Apache-2.0
/// Entries of the translation structures, as they lie in memory, little-endian. [IOM-2.1]
#pragma once

#include <cstdint>

#include "iommu/capabilities.h"

namespace flitwise {

inline constexpr unsigned kRootEntryBytes = 16;
inline constexpr unsigned kContextEntryBytes = 32;
inline constexpr unsigned kPasidDirectoryEntryBytes = 8;
inline constexpr unsigned kPasidEntryBytes = 64;
inline constexpr unsigned kPageEntryBytes = 8;
inline constexpr unsigned kPageBits = 12;  ///< log2 of the smallest page
inline constexpr unsigned kLevelBits = 9;  ///< index bits of a level
inline constexpr unsigned kMaxLevels = 5;

/// Eight bytes, lowest first.
std::uint64_t load_u64(const std::uint8_t* bytes);
void store_u64(std::uint8_t* bytes, std::uint64_t value);

/// log2 of what one entry of this level spans: 12 at level 1, 21, 30, 39, 48 at level 5.
constexpr unsigned span_bits(unsigned level) {
  return kPageBits + kLevelBits * (level - 1);
}
/// Offset in bytes of the entry of `address` in its table of this level.
constexpr std::uint64_t entry_offset(std::uint64_t address, unsigned level) {
  return ((address >> span_bits(level)) & 0x1ffU) * kPageEntryBytes;
}
/// Bits low..63.
constexpr std::uint64_t bits_from(unsigned low) {
  return low >= 64 ? 0 : ~std::uint64_t{0} << low;
}

/// Half of a root entry, for devfn 0..127 or 128..255. [IOM-2.2]
struct RootEntry {
  bool is_present = false;
  bool has_reserved = false;  ///< reserved bits set in either half
  std::uint64_t context_table = 0;
};
RootEntry decode_root(const std::uint8_t* bytes, unsigned devfn, const IommuCapabilities& offers);

/// Scalable-mode context entry. [IOM-2.3]
struct ContextEntry {
  bool is_present = false;
  bool disables_fault_records = false;  ///< FPD
  bool enables_device_tlb = false;      ///< DTE
  bool enables_pasid = false;           ///< PASIDE
  bool enables_page_requests = false;   ///< PRE
  bool rid_is_privileged = false;       ///< RID_PRIV
  bool has_reserved = false;
  std::uint8_t directory_size = 0;  ///< PDTS: the directory has 2^(PDTS+7) entries
  std::uint32_t rid_pasid = 0;
  std::uint64_t pasid_directory = 0;

  /// One above the largest PASID of the directory. [PAS-03]
  std::uint32_t pasid_limit() const { return 1U << (directory_size + 7U + 6U); }
};
ContextEntry decode_context(const std::uint8_t* bytes, const IommuCapabilities& offers);

/// PASID directory entry. [IOM-2.4]
struct PasidDirectoryEntry {
  bool is_present = false;
  bool disables_fault_records = false;
  bool has_reserved = false;
  std::uint64_t table = 0;
};
PasidDirectoryEntry decode_pasid_directory(const std::uint8_t* bytes,
                                           const IommuCapabilities& offers);

/// PGTT: how a PASID is translated. Other numbers are invalid. [IOM-2.6]
enum class TranslationType : std::uint8_t {
  kNone = 0,
  kFirstStage = 1,
  kSecondStage = 2,
  kNested = 3,
  kPassThrough = 4,
};

/// PASID table entry. [IOM-2.5] [IOM-2.15]
struct PasidEntry {
  bool is_present = false;
  bool disables_fault_records = false;
  bool has_reserved = false;
  std::uint8_t address_width = 0;            ///< AW: levels of the second stage minus 2
  std::uint8_t type = 0;                     ///< PGTT as it stands there
  std::uint8_t paging_mode = 0;              ///< FSPM: levels of the first stage minus 4
  bool second_stage_accessed_dirty = false;  ///< SSADE
  bool page_snoop = false;                   ///< PGSNP
  bool walk_snoop = false;                   ///< PWSNP
  bool enables_supervisor = false;           ///< SRE
  bool enables_execute = false;              ///< ERE (unverified position)
  bool write_protect = false;                ///< WPE
  bool extended_accessed = false;            ///< EAFE
  std::uint16_t domain = 0;                  ///< DID
  std::uint64_t second_stage_table = 0, first_stage_table = 0;
  bool has_permission_table = false;  ///< false, too, where Secure ATS is not offered
  bool is_trusted = false;            ///< T of its permission table
  std::uint64_t permission_table = 0;

  TranslationType translation() const { return static_cast<TranslationType>(type); }
  unsigned first_stage_levels() const { return paging_mode + 4U; }
  unsigned second_stage_levels() const { return address_width + 2U; }
  /// Inputs of the second stage and of pass-through are below 2^this.
  unsigned second_stage_bits(const IommuCapabilities& offers) const;
  bool has_first_stage() const {
    return translation() == TranslationType::kFirstStage ||
           translation() == TranslationType::kNested;
  }
  bool has_second_stage() const {
    return translation() == TranslationType::kSecondStage ||
           translation() == TranslationType::kNested;
  }
  /// Type, widths and modes that this machine offers. [PAS-12, PAS-13, PAS-14]
  bool is_valid(const IommuCapabilities& offers) const;
};
PasidEntry decode_pasid(const std::uint8_t* bytes, const IommuCapabilities& offers);

/// First-stage paging entry. [IOM-2.8]
struct FirstStageEntry {
  static constexpr std::uint64_t kAccessed = 1U << 5, kDirty = 1U << 6;
  static constexpr std::uint64_t kExtendedAccessed = 1U << 10;  ///< unverified position
  std::uint64_t raw = 0;

  bool is_present() const { return (raw & 1U) != 0; }
  bool is_writable() const { return (raw & 2U) != 0; }
  bool is_user() const { return (raw & 4U) != 0; }
  bool is_global() const { return (raw & 0x100U) != 0; }
  bool is_executable() const { return raw >> 63 == 0; }
  /// Maps a page rather than a table. REQUIRES: no reserved bits.
  bool is_leaf(unsigned level) const { return level == 1 || (raw & 0x80U) != 0; }
  bool has_reserved(unsigned level, const IommuCapabilities& offers) const;
  std::uint64_t table() const { return raw & kTableMask; }
  std::uint64_t page(unsigned level) const {
    return raw & kTableMask & bits_from(span_bits(level));
  }

  static constexpr std::uint64_t kTableMask = 0x000f'ffff'ffff'f000;
};

/// Second-stage paging entry. [IOM-2.9]
struct SecondStageEntry {
  static constexpr std::uint64_t kAccessed = 1U << 8, kDirty = 1U << 9;
  std::uint64_t raw = 0;

  bool is_readable() const { return (raw & 1U) != 0; }
  bool is_writable() const { return (raw & 2U) != 0; }
  bool is_snooped() const { return (raw & 0x800U) != 0; }
  bool is_leaf(unsigned level) const { return level == 1 || (raw & 0x80U) != 0; }
  bool has_reserved(unsigned level, const IommuCapabilities& offers) const;
  std::uint64_t table() const { return raw & FirstStageEntry::kTableMask; }
  std::uint64_t page(unsigned level) const { return table() & bits_from(span_bits(level)); }
};

}  // namespace flitwise
