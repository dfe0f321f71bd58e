// SPDX-License-Identifier: Apache-2.0
// CAP and ECAP from what the machine offers.
#include "iommu/capabilities.h"

namespace flitwise {

namespace {
constexpr std::uint64_t bit(bool is_set, unsigned position) {
  return is_set ? std::uint64_t{1} << position : 0;
}
constexpr std::uint64_t field(std::uint64_t value, unsigned low, unsigned bits) {
  return (value & ((std::uint64_t{1} << bits) - 1)) << low;
}

// SAGAW of five levels: a position that no open source confirms. [IOM-1.2]
constexpr unsigned kUnverifiedFiveLevels = 11;
}  // namespace

std::uint64_t cap_register(const IommuCapabilities& c) {
  return field((c.domain_bits - 4U) / 2U, 0, 3) | bit(c.caching_mode, 7) |
         bit(c.second_stage_3_level, 9) | bit(c.second_stage_4_level, 10) |
         bit(c.second_stage_5_level, kUnverifiedFiveLevels) |
         field(c.guest_address_bits - 1U, 16, 6) | bit(c.zero_length_read, 22) |
         field(c.fault_record_offset / 16U, 24, 10) | bit(c.second_stage_2m, 34) |
         bit(c.second_stage_1g, 35) | bit(c.page_selective, 39) |
         field(c.fault_records - 1U, 40, 8) | field(c.max_address_mask, 48, 6) |
         bit(c.drains_reads_writes, 54) | bit(c.drains_reads_writes, 55) |
         bit(c.first_stage_1g, 56) | bit(c.first_stage_5_level, 60) |
         bit(c.clears_caches_on_root, 63);
}

std::uint64_t ecap_register(const IommuCapabilities& c) {
  const bool has_pasid = c.pasid_bits > 0;
  return bit(c.coherent_walks, 0) | bit(c.queued_invalidation, 1) | bit(c.device_tlb, 2) |
         bit(c.pass_through, 6) | bit(c.snoop_control, 7) | field(c.iotlb_offset / 16U, 8, 10) |
         bit(c.nested, 26) | bit(c.page_requests, 29) | bit(c.execute_requests, 30) |
         bit(c.supervisor_requests, 31) | bit(c.no_write_flag, 33) |
         bit(c.extended_accessed_flag, 34) | field(has_pasid ? c.pasid_bits - 1U : 0, 35, 5) |
         bit(has_pasid, 40) | bit(c.page_request_drain, 42) | bit(c.scalable_mode, 43) |
         bit(c.second_stage_accessed_dirty, 45) | bit(c.second_stage, 46) | bit(c.first_stage, 47) |
         bit(c.coherent_walks, 48) | bit(c.rid_pasid, 49);
}

}  // namespace flitwise
