// SPDX-License-Identifier: Apache-2.0
// Decoding of translation structures and their reserved bits.
#include "iommu/entries.h"

#include "common/page.h"
#include "iommu/permission_table.h"

namespace flitwise {

namespace {

constexpr bool is_set(std::uint64_t word, unsigned position) {
  return (word >> position & 1) != 0;
}

/// Bits of a pointer 63:12 that lie beyond the physical addresses of the host.
std::uint64_t beyond_host(const IommuCapabilities& offers) {
  return bits_from(offers.host_address_bits);
}

/// Bits of the output address 51:12 beyond the host's.
std::uint64_t page_beyond_host(const IommuCapabilities& offers) {
  return beyond_host(offers) & FirstStageEntry::kTableMask;
}

// Positions that no open source confirms. [IOM-2.10]
constexpr unsigned kUnverifiedExecuteEnable = 1;  // of the third quadword of a PASID entry

constexpr std::uint64_t kRootReserved = 0xffe;
constexpr std::uint64_t kContextReservedLow = 0x1e0;
constexpr std::uint64_t kContextReservedHigh = ~std::uint64_t{0x1f'ffff};
constexpr std::uint64_t kDirectoryReserved = 0xffc;
constexpr std::uint64_t kPasidReserved = 0xc00;
constexpr std::uint64_t kPermissionPointerReserved = 0xffc;
constexpr std::uint64_t kPageSize = 0x80;
constexpr std::uint64_t kSnoop = 0x800;
constexpr std::uint64_t kTransient = std::uint64_t{1} << 62;

/// A page larger than 4 KiB at this level is offered.
bool offers_page(unsigned level, bool has_2m, bool has_1g) {
  return (level == 2 && has_2m) || (level == 3 && has_1g);
}

// [IOM-2.15]
void decode_permission_pointer(std::uint64_t word, const IommuCapabilities& offers,
                               PasidEntry& entry) {
  entry.has_permission_table = (word & permission_pointer::kEnable) != 0;
  entry.is_trusted = (word & permission_pointer::kTrusted) != 0;
  entry.permission_table = word & kPageAddress;
  entry.has_reserved =
      entry.has_reserved || (entry.has_permission_table &&
                             (word & (kPermissionPointerReserved | beyond_host(offers))) != 0);
}

}  // namespace

std::uint64_t load_u64(const std::uint8_t* bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 8; i-- > 0;) {
    value = value << 8 | bytes[i];
  }
  return value;
}

void store_u64(std::uint8_t* bytes, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

RootEntry decode_root(const std::uint8_t* bytes, unsigned devfn, const IommuCapabilities& offers) {
  const std::uint64_t low = load_u64(bytes);
  const std::uint64_t high = load_u64(bytes + 8);
  const std::uint64_t half = devfn < 128 ? low : high;
  const std::uint64_t present = (is_set(low, 0) ? low : 0) | (is_set(high, 0) ? high : 0);
  RootEntry entry;
  entry.is_present = is_set(half, 0);
  entry.has_reserved = (present & (kRootReserved | beyond_host(offers))) != 0;
  entry.context_table = half & kPageAddress;
  return entry;
}

ContextEntry decode_context(const std::uint8_t* bytes, const IommuCapabilities& offers) {
  const std::uint64_t low = load_u64(bytes);
  const std::uint64_t high = load_u64(bytes + 8);
  ContextEntry entry;
  entry.is_present = is_set(low, 0);
  entry.disables_fault_records = is_set(low, 1);
  entry.enables_device_tlb = is_set(low, 2);
  entry.enables_pasid = is_set(low, 3);
  entry.enables_page_requests = is_set(low, 4);
  entry.directory_size = static_cast<std::uint8_t>(low >> 9 & 7U);
  entry.pasid_directory = low & kPageAddress;
  entry.rid_pasid = static_cast<std::uint32_t>(high & 0xf'ffffU);
  entry.rid_is_privileged = is_set(high, 20);
  entry.has_reserved = (low & (kContextReservedLow | beyond_host(offers))) != 0 ||
                       (high & kContextReservedHigh) != 0;
  return entry;
}

PasidDirectoryEntry decode_pasid_directory(const std::uint8_t* bytes,
                                           const IommuCapabilities& offers) {
  const std::uint64_t word = load_u64(bytes);
  PasidDirectoryEntry entry;
  entry.is_present = is_set(word, 0);
  entry.disables_fault_records = is_set(word, 1);
  entry.has_reserved = (word & (kDirectoryReserved | beyond_host(offers))) != 0;
  entry.table = word & kPageAddress;
  return entry;
}

PasidEntry decode_pasid(const std::uint8_t* bytes, const IommuCapabilities& offers) {
  const std::uint64_t q0 = load_u64(bytes);
  const std::uint64_t q1 = load_u64(bytes + 8);
  const std::uint64_t q2 = load_u64(bytes + 16);
  PasidEntry entry;
  entry.is_present = is_set(q0, 0);
  entry.disables_fault_records = is_set(q0, 1);
  entry.address_width = static_cast<std::uint8_t>(q0 >> 2 & 7U);
  entry.type = static_cast<std::uint8_t>(q0 >> 6 & 7U);
  entry.second_stage_accessed_dirty = is_set(q0, 9) && offers.second_stage_accessed_dirty;
  entry.second_stage_table = q0 & kPageAddress;
  entry.domain = static_cast<std::uint16_t>(q1);
  entry.walk_snoop = is_set(q1, 23);
  entry.page_snoop = is_set(q1, 24);
  entry.enables_supervisor = is_set(q2, 0);
  entry.enables_execute = is_set(q2, kUnverifiedExecuteEnable);
  entry.paging_mode = static_cast<std::uint8_t>(q2 >> 2 & 3U);
  entry.write_protect = is_set(q2, 4);
  entry.extended_accessed = is_set(q2, 7) && offers.extended_accessed_flag;
  entry.first_stage_table = q2 & kPageAddress;
  entry.has_reserved = (q0 & kPasidReserved) != 0;
  if (offers.secure_ats) {
    decode_permission_pointer(load_u64(bytes + 8 * kPermissionQuad), offers, entry);
  }
  return entry;
}

unsigned PasidEntry::second_stage_bits(const IommuCapabilities& offers) const {
  const unsigned adjusted = span_bits(second_stage_levels() + 1U);
  return adjusted < offers.guest_address_bits ? adjusted : offers.guest_address_bits;
}

bool PasidEntry::is_valid(const IommuCapabilities& offers) const {
  const bool width_offered = (address_width == 1 && offers.second_stage_3_level) ||
                             (address_width == 2 && offers.second_stage_4_level) ||
                             (address_width == 3 && offers.second_stage_5_level);
  const bool mode_offered = paging_mode == 0 || (paging_mode == 1 && offers.first_stage_5_level);
  switch (type) {
    case static_cast<std::uint8_t>(TranslationType::kFirstStage):
      return offers.first_stage && mode_offered;
    case static_cast<std::uint8_t>(TranslationType::kSecondStage):
      return offers.second_stage && width_offered;
    case static_cast<std::uint8_t>(TranslationType::kNested):
      return offers.nested && offers.first_stage && offers.second_stage && mode_offered &&
             width_offered;
    case static_cast<std::uint8_t>(TranslationType::kPassThrough):
      return offers.pass_through && address_width >= 1 && address_width <= 3;
    default:
      return false;
  }
}

bool FirstStageEntry::has_reserved(unsigned level, const IommuCapabilities& offers) const {
  std::uint64_t reserved = page_beyond_host(offers);
  if (level > 1 && (raw & kPageSize) != 0) {
    if (!offers_page(level, true, offers.first_stage_1g)) {
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
    if (!offers_page(level, offers.second_stage_2m, offers.second_stage_1g)) {
      return true;
    }
    reserved |= bits_from(kPageBits) & ~bits_from(span_bits(level));
  }
  return (raw & (reserved | (offers.device_tlb ? 0 : kTransient))) != 0;
}

}  // namespace flitwise
