// SPDX-License-Identifier: Apache-2.0
// CAP and ECAP from what the machine offers.
#include "iommu/capabilities.h"

#include "iommu/word_bits.h"

namespace flitwise {

namespace {
constexpr std::uint64_t placed(std::uint64_t value, unsigned low, unsigned bits) {
  return (value & ((std::uint64_t{1} << bits) - 1)) << low;
}

// SAGAW of five levels: a position that no open source confirms. [IOM-1.2]
constexpr unsigned kUnverifiedFiveLevels = 11;
}  // namespace

std::uint64_t cap_register(const IommuCapabilities& c) {
  return placed((c.domain_bits - 4U) / 2U, 0, 3) | bit_if(c.caching_mode, 7) |
         bit_if(c.second_stage_3_level, 9) | bit_if(c.second_stage_4_level, 10) |
         bit_if(c.second_stage_5_level, kUnverifiedFiveLevels) |
         placed(c.guest_address_bits - 1U, 16, 6) | bit_if(c.zero_length_read, 22) |
         placed(c.fault_record_offset / 16U, 24, 10) | bit_if(c.second_stage_2m, 34) |
         bit_if(c.second_stage_1g, 35) | bit_if(c.page_selective, 39) |
         placed(c.fault_records - 1U, 40, 8) | placed(c.max_address_mask, 48, 6) |
         bit_if(c.drains_reads_writes, 54) | bit_if(c.drains_reads_writes, 55) |
         bit_if(c.first_stage_1g, 56) | bit_if(c.first_stage_5_level, 60) |
         bit_if(c.clears_caches_on_root, 63);
}

std::uint64_t ecap_register(const IommuCapabilities& c) {
  const bool has_pasid = c.pasid_bits > 0;
  return bit_if(c.coherent_walks, 0) | bit_if(c.queued_invalidation, 1) | bit_if(c.device_tlb, 2) |
         bit_if(c.pass_through, 6) | bit_if(c.snoop_control, 7) |
         placed(c.iotlb_offset / 16U, 8, 10) | bit_if(c.nested, 26) | bit_if(c.page_requests, 29) |
         bit_if(c.execute_requests, 30) | bit_if(c.supervisor_requests, 31) |
         bit_if(c.no_write_flag, 33) | bit_if(c.extended_accessed_flag, 34) |
         placed(has_pasid ? c.pasid_bits - 1U : 0, 35, 5) | bit_if(has_pasid, 40) |
         bit_if(c.page_request_drain, 42) | bit_if(c.scalable_mode, 43) |
         bit_if(c.second_stage_accessed_dirty, 45) | bit_if(c.second_stage, 46) |
         bit_if(c.first_stage, 47) | bit_if(c.coherent_walks, 48) | bit_if(c.rid_pasid, 49);
}

}  // namespace flitwise
