// SPDX-License-Identifier: Apache-2.0
/// What a translation agent offers, and how CAP and ECAP announce it. [IOM-1.2, IOM-1.3]
#pragma once

#include <cstdint>

namespace flitwise {

/// Plain facts of one translation agent; the defaults are the default machine's.
struct IommuCapabilities {
  // Widths.
  std::uint8_t host_address_bits = 48;   ///< HAW: physical addresses, 36..52
  std::uint8_t guest_address_bits = 48;  ///< MGAW: inputs of the second stage, 39..57
  std::uint8_t pasid_bits = 20;          ///< PSS+1, 1..20; 0: no PASID

  // Page tables.
  bool first_stage = true;                                        ///< FSTS
  bool first_stage_5_level = true;                                ///< FS5LP
  bool first_stage_1g = true;                                     ///< FS1GP
  bool second_stage = true;                                       ///< SSTS
  bool second_stage_3_level = true, second_stage_4_level = true;  ///< SAGAW bits 1, 2
  bool second_stage_5_level = false;                              ///< SAGAW bit 3 (unverified)
  bool second_stage_2m = true, second_stage_1g = true;            ///< SSLPS bits 0, 1
  bool second_stage_accessed_dirty = true;                        ///< SSADS
  bool nested = true;                                             ///< NEST
  bool pass_through = true;                                       ///< PT
  bool rid_pasid = true;                                          ///< RPS

  // Requests.
  bool snoop_control = true;            ///< SC
  bool device_tlb = true;               ///< DT
  bool page_requests = true;            ///< PRS
  bool page_request_drain = true;       ///< PDS
  bool execute_requests = true;         ///< ERS
  bool supervisor_requests = true;      ///< SRS
  bool extended_accessed_flag = false;  ///< EAFS
  bool zero_length_read = true;         ///< ZLR
  bool secure_ats = false;              ///< ours: translated requests are checked [SEC-01]

  // Mechanics.
  bool caching_mode = false;        ///< CM: not-present entries may be cached
  std::uint16_t fault_records = 1;  ///< NFR+1, 1..256
};

inline constexpr unsigned kMaxAddressMask = 18;         ///< MAMV: largest AM of an invalidation
inline constexpr std::uint32_t kFaultRecords = 0x220;   ///< FRO, bytes
inline constexpr std::uint32_t kIotlbRegisters = 0xf0;  ///< IRO, bytes

/// The bit at `position` (0..63), or nothing.
constexpr std::uint64_t bit_if(bool is_set, unsigned position) {
  return is_set ? std::uint64_t{1} << position : 0;
}

/// SAGAW of five levels: a position that no open source confirms. [IOM-1.2]
inline constexpr unsigned kUnverifiedFiveLevels = 11;

/// CAP. Every agent has domains of 16 bits and page-selective invalidation, drains reads and
/// writes, and invalidates all caches when the root pointer is set (ND, PSI, DRD, DWD, ESRTPS).
/// [IOM-1.2]
constexpr std::uint64_t cap_register(const IommuCapabilities& c) {
  constexpr std::uint64_t kAlways = bit_if(true, 39) | std::uint64_t{3} << 54 | bit_if(true, 63);
  return 6U | bit_if(c.caching_mode, 7) | bit_if(c.second_stage_3_level, 9) |
         bit_if(c.second_stage_4_level, 10) |
         bit_if(c.second_stage_5_level, kUnverifiedFiveLevels) |
         std::uint64_t{c.guest_address_bits - 1U} << 16 | bit_if(c.zero_length_read, 22) |
         std::uint64_t{kFaultRecords / 16} << 24 | bit_if(c.second_stage_2m, 34) |
         bit_if(c.second_stage_1g, 35) | std::uint64_t{c.fault_records - 1U} << 40 |
         std::uint64_t{kMaxAddressMask} << 48 | bit_if(c.first_stage_1g, 56) |
         bit_if(c.first_stage_5_level, 60) | kAlways;
}

/// ECAP. Every agent walks coherently, has an invalidation queue, honours No Write and is scalable
/// (C, SMPWC, QI, NWFS, SMTS). [IOM-1.3]
constexpr std::uint64_t ecap_register(const IommuCapabilities& c) {
  constexpr std::uint64_t kAlways = 3U | bit_if(true, 33) | bit_if(true, 43) | bit_if(true, 48);
  const std::uint64_t pasid = c.pasid_bits > 0 ? bit_if(true, 40) | (c.pasid_bits - 1ULL) << 35 : 0;
  return bit_if(c.device_tlb, 2) | bit_if(c.pass_through, 6) | bit_if(c.snoop_control, 7) |
         kIotlbRegisters / 16 << 8 | bit_if(c.nested, 26) | bit_if(c.page_requests, 29) |
         bit_if(c.execute_requests, 30) | bit_if(c.supervisor_requests, 31) |
         bit_if(c.extended_accessed_flag, 34) | bit_if(c.page_request_drain, 42) |
         bit_if(c.second_stage_accessed_dirty, 45) | bit_if(c.second_stage, 46) |
         bit_if(c.first_stage, 47) | bit_if(c.rid_pasid, 49) | pasid | kAlways;
}

}  // namespace flitwise
