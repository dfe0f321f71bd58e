// SPDX-License-Identifier: Apache-2.0
/// What a translation agent offers, and how CAP and ECAP announce it. [IOM-1.2, IOM-1.3]
#pragma once

#include <cstdint>

#include "flitwise/config.h"

namespace flitwise {

/// Plain facts of one translation agent; the defaults are the default machine's.
struct IommuCapabilities : decltype(IommuConfig::capabilities) {
  bool secure_ats = false;  ///< ours: translated requests are checked [SEC-01]

  /// MGAW: inputs of the second stage.
  constexpr unsigned guest_address_bits() const { return second_stage_5_level ? 57 : 48; }
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
/// writes, and invalidates all caches when the root pointer is set (ND, PSI, DRD, DWD, ESRTPS). Its
/// second stage has three or four levels, both stages have pages of 2 MiB and 1 GiB, and a read of
/// no bytes may go where writes may (SAGAW, SSLPS, FS1GP, ZLR). [IOM-1.2]
constexpr std::uint64_t cap_register(const IommuCapabilities& c) {
  constexpr std::uint64_t kAlways = 6U | 3U << 9 | 1U << 22 | std::uint64_t{3} << 34 |
                                    bit_if(true, 39) | std::uint64_t{3} << 54 | bit_if(true, 56) |
                                    bit_if(true, 63);
  return bit_if(c.caching_mode, 7) | bit_if(c.second_stage_5_level, kUnverifiedFiveLevels) |
         std::uint64_t{c.guest_address_bits() - 1U} << 16 |
         std::uint64_t{kFaultRecords / 16} << 24 | std::uint64_t{c.fault_records - 1U} << 40 |
         std::uint64_t{kMaxAddressMask} << 48 | bit_if(c.first_stage_5_level, 60) | kAlways;
}

/// ECAP. Every agent walks coherently, has an invalidation queue, honours No Write and is scalable
/// (C, SMPWC, QI, NWFS, SMTS); has both stages, pass-through, and accessed and dirty bits in the
/// second stage (FSTS, SSTS, PT, SSADS); and serves device TLBs, page requests and their draining,
/// snooped pages, requests to execute and of supervisors (DT, PRS, PDS, SC, ERS, SRS). No agent has
/// extended accessed flags (EAFS). [IOM-1.3]
constexpr std::uint64_t ecap_register(const IommuCapabilities& c) {
  constexpr std::uint64_t kAlways =
      0xc7U | std::uint64_t{0x17} << 29 | std::uint64_t{3} << 42 | std::uint64_t{0xf} << 45;
  const std::uint64_t pasid = c.pasid_bits > 0 ? bit_if(true, 40) | (c.pasid_bits - 1ULL) << 35 : 0;
  return kIotlbRegisters / 16 << 8 | bit_if(c.nested, 26) | bit_if(c.rid_pasid, 49) | pasid |
         kAlways;
}

}  // namespace flitwise
