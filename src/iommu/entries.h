// SPDX-License-Identifier: Apache-2.0
/// Entries of the translation structures, as they lie in memory, little-endian. [IOM-2.1]
#pragma once

#include <boost/endian/conversion.hpp>
#include <cstdint>

#include "common/page.h"
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
inline std::uint64_t load_u64(const std::uint8_t* bytes) {
  return boost::endian::load_little_u64(bytes);
}
inline void store_u64(std::uint8_t* bytes, std::uint64_t value) {
  boost::endian::store_little_u64(bytes, value);
}

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

constexpr bool is_set(std::uint64_t word, unsigned position) {
  return (word >> position & 1) != 0;
}
/// Bits above the highest one that a first stage of so many levels translates all equal it.
constexpr bool is_canonical(std::uint64_t address, unsigned levels) {
  const std::uint64_t upper = bits_from(span_bits(levels + 1) - 1);
  return (address & upper) == 0 || (address & upper) == upper;
}

/// A root entry or an entry of a PASID directory: where the table below it is. [IOM-2.2] [IOM-2.4]
struct TablePointer {
  bool is_present = false;
  bool disables_fault_records = false;  ///< FPD of a PASID directory entry
  bool has_reserved = false;            ///< in either half of a root entry
  std::uint64_t table = 0;
};
/// The half for devfn 0..127 or 128..255.
TablePointer decode_root(const std::uint8_t* bytes, unsigned devfn,
                         const IommuCapabilities& offers);
TablePointer decode_pasid_directory(const std::uint8_t* bytes, const IommuCapabilities& offers);

/// Scalable-mode context entry. [IOM-2.3]
struct ContextEntry {
  std::uint64_t low = 0, high = 0;

  bool is_present() const { return is_set(low, 0); }
  bool disables_fault_records() const { return is_set(low, 1); }  ///< FPD
  bool enables_device_tlb() const { return is_set(low, 2); }      ///< DTE
  bool enables_pasid() const { return is_set(low, 3); }           ///< PASIDE
  bool enables_page_requests() const { return is_set(low, 4); }   ///< PRE
  bool rid_is_privileged() const { return is_set(high, 20); }     ///< RID_PRIV
  bool has_reserved(const IommuCapabilities& offers) const;
  std::uint32_t rid_pasid() const { return static_cast<std::uint32_t>(high & 0xf'ffffU); }
  std::uint64_t pasid_directory() const { return low & kPageAddress; }
  /// One above the largest PASID of the directory, which has 2^(PDTS+7) entries. [PAS-03]
  std::uint32_t pasid_limit() const { return 1U << ((low >> 9 & 7U) + 7U + 6U); }
};

/// PGTT: how a PASID is translated. Other numbers are invalid. [IOM-2.6]
enum class TranslationType : std::uint8_t {
  kNone = 0,
  kFirstStage = 1,
  kSecondStage = 2,
  kNested = 3,
  kPassThrough = 4,
};

/// PASID table entry. What is not offered counts as 0: EAFE, and the permission table where there
/// is no Secure ATS. [IOM-2.5] [IOM-2.15]
struct PasidEntry {
  static constexpr unsigned kUnverifiedExecuteEnable = 1;  ///< in q2 [IOM-2.10]
  std::uint64_t q0 = 0, q1 = 0, q2 = 0;
  std::uint64_t permissions = 0;

  bool is_present() const { return is_set(q0, 0); }
  bool disables_fault_records() const { return is_set(q0, 1); }                  ///< FPD
  bool second_stage_accessed_dirty() const { return is_set(q0, 9); }             ///< SSADE
  bool page_snoop() const { return is_set(q1, 24); }                             ///< PGSNP
  bool enables_supervisor() const { return is_set(q2, 0); }                      ///< SRE
  bool enables_execute() const { return is_set(q2, kUnverifiedExecuteEnable); }  ///< ERE
  bool write_protect() const { return is_set(q2, 4); }                           ///< WPE
  bool has_permission_table() const { return is_set(permissions, 0); }
  bool is_trusted() const { return is_set(permissions, 1); }  ///< T of its permission table
  bool has_reserved(const IommuCapabilities& offers) const;
  std::uint16_t domain() const { return static_cast<std::uint16_t>(q1); }  ///< DID
  std::uint64_t second_stage_table() const { return q0 & kPageAddress; }
  std::uint64_t first_stage_table() const { return q2 & kPageAddress; }
  std::uint64_t permission_table() const { return permissions & kPageAddress; }

  /// PGTT as it stands there.
  TranslationType translation() const { return static_cast<TranslationType>(q0 >> 6 & 7U); }
  unsigned first_stage_levels() const { return static_cast<unsigned>(q2 >> 2 & 3U) + 4; }  ///< FSPM
  unsigned second_stage_levels() const { return static_cast<unsigned>(q0 >> 2 & 7U) + 2; }  ///< AW
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
  std::uint64_t raw = 0;

  bool is_present() const { return (raw & 1U) != 0; }
  bool is_writable() const { return (raw & 2U) != 0; }
  bool is_user() const { return (raw & 4U) != 0; }
  bool is_uncached() const { return (raw & 0x10U) != 0; }  ///< PCD
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
  bool is_transient() const { return (raw >> 62 & 1U) != 0; }  ///< TM
  bool is_leaf(unsigned level) const { return level == 1 || (raw & 0x80U) != 0; }
  bool has_reserved(unsigned level, const IommuCapabilities& offers) const;
  std::uint64_t table() const { return raw & FirstStageEntry::kTableMask; }
  std::uint64_t page(unsigned level) const { return table() & bits_from(span_bits(level)); }
};

}  // namespace flitwise
