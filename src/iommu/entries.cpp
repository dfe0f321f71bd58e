// SPDX-License-Identifier: Apache-2.0
// Decoding of translation structures and their reserved bits.
#include "iommu/entries.h"

#include <algorithm>

#include "iommu/permission_table.h"

namespace flitwise {

namespace {

/// Bits of a pointer 63:12 that lie beyond the physical addresses of the host.
std::uint64_t beyond_host(const IommuCapabilities& offers) {
  return bits_from(offers.host_address_bits);
}

/// Bits of the output address 51:12 beyond the host's.
std::uint64_t page_beyond_host(const IommuCapabilities& offers) {
  return beyond_host(offers) & FirstStageEntry::kTableMask;
}

constexpr std::uint64_t kRootReserved = 0xffe;
constexpr std::uint64_t kContextReservedLow = 0x1e0;
constexpr std::uint64_t kContextReservedHigh = ~std::uint64_t{0x1f'ffff};
constexpr std::uint64_t kDirectoryReserved = 0xffc;
constexpr std::uint64_t kPasidReserved = 0xc00;
constexpr std::uint64_t kPermissionPointerReserved = 0xffc;
constexpr std::uint64_t kPageSize = 0x80;
constexpr std::uint64_t kSnoop = 0x800;
constexpr std::uint64_t kTransient = std::uint64_t{1} << 62;
constexpr unsigned kHighestPageLevel = 3;  // 1 GiB

}  // namespace

TablePointer decode_root(const std::uint8_t* bytes, unsigned devfn,
                         const IommuCapabilities& offers) {
  const std::uint64_t low = load_u64(bytes);
  const std::uint64_t high = load_u64(bytes + 8);
  const std::uint64_t half = devfn < 128 ? low : high;
  const std::uint64_t present = (is_set(low, 0) ? low : 0) | (is_set(high, 0) ? high : 0);
  return {is_set(half, 0), false, (present & (kRootReserved | beyond_host(offers))) != 0,
          half & kPageAddress};
}

TablePointer decode_pasid_directory(const std::uint8_t* bytes, const IommuCapabilities& offers) {
  const std::uint64_t word = load_u64(bytes);
  return {is_set(word, 0), is_set(word, 1),
          (word & (kDirectoryReserved | beyond_host(offers))) != 0, word & kPageAddress};
}

bool ContextEntry::has_reserved(const IommuCapabilities& offers) const {
  return (low & (kContextReservedLow | beyond_host(offers))) != 0 ||
         (high & kContextReservedHigh) != 0;
}

PasidEntry decode_pasid(const std::uint8_t* bytes, const IommuCapabilities& offers) {
  return {load_u64(bytes), load_u64(bytes + 8), load_u64(bytes + 16),
          offers.secure_ats ? load_u64(bytes + 8 * kPermissionQuad) : 0};
}

// [IOM-2.15]
bool PasidEntry::has_reserved(const IommuCapabilities& offers) const {
  return (q0 & kPasidReserved) != 0 ||
         (has_permission_table() &&
          (permissions & (kPermissionPointerReserved | beyond_host(offers))) != 0);
}

unsigned PasidEntry::second_stage_bits(const IommuCapabilities& offers) const {
  return std::min(span_bits(second_stage_levels() + 1U), offers.guest_address_bits());
}

bool PasidEntry::is_valid(const IommuCapabilities& offers) const {
  const unsigned second = second_stage_levels();
  const bool second_offered = second >= 3 && second <= (offers.second_stage_5_level ? 5U : 4U);
  const bool first_offered = first_stage_levels() <= (offers.first_stage_5_level ? 5U : 4U);
  switch (translation()) {
    case TranslationType::kFirstStage: return first_offered;
    case TranslationType::kSecondStage: return second_offered;
    case TranslationType::kNested: return offers.nested && first_offered && second_offered;
    case TranslationType::kPassThrough: return second >= 3 && second <= 5;
    default: return false;
  }
}

bool FirstStageEntry::has_reserved(unsigned level, const IommuCapabilities& offers) const {
  std::uint64_t reserved = page_beyond_host(offers);
  if (level > 1 && (raw & kPageSize) != 0) {
    if (level > kHighestPageLevel) {
      return true;
    }
    reserved |= bits_from(kPageBits + 1) & ~bits_from(span_bits(level));  // bit 12 is PAT
  }
  return (raw & reserved) != 0;
}

bool SecondStageEntry::has_reserved(unsigned level, const IommuCapabilities& offers) const {
  std::uint64_t reserved = page_beyond_host(offers);
  if (!is_leaf(level)) {
    return (raw & (reserved | kSnoop | kTransient)) != 0;
  }
  if (level > 1) {
    if (level > kHighestPageLevel) {
      return true;
    }
    reserved |= bits_from(kPageBits) & ~bits_from(span_bits(level));
  }
  return (raw & reserved) != 0;
}

}  // namespace flitwise
