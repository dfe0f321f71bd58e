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
  std::uint8_t domain_bits = 16;         ///< 4..16, even

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
  bool no_write_flag = true;            ///< NWFS
  bool extended_accessed_flag = false;  ///< EAFS
  bool zero_length_read = true;         ///< ZLR
  bool secure_ats = false;              ///< ours: translated requests are checked [SEC-01]

  // Mechanics.
  bool caching_mode = false;           ///< CM: not-present entries may be cached
  bool queued_invalidation = true;     ///< QI
  bool page_selective = true;          ///< PSI
  bool scalable_mode = true;           ///< SMTS
  bool coherent_walks = true;          ///< C and SMPWC
  bool drains_reads_writes = true;     ///< DRD, DWD
  bool clears_caches_on_root = true;   ///< ESRTPS: setting the root pointer invalidates all caches
  std::uint8_t max_address_mask = 18;  ///< MAMV: largest AM of a page-selective invalidation
  std::uint16_t fault_records = 1;     ///< NFR+1, 1..256
  std::uint16_t fault_record_offset = 0x220;  ///< FRO, bytes, a multiple of 16 below 0x4000
  std::uint16_t iotlb_offset = 0xf0;          ///< IRO, bytes, a multiple of 16 below 0x4000
};

std::uint64_t cap_register(const IommuCapabilities& capabilities);   ///< CAP [IOM-1.2]
std::uint64_t ecap_register(const IommuCapabilities& capabilities);  ///< ECAP [IOM-1.3]

}  // namespace flitwise
