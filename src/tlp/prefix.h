// SPDX-License-Identifier: Apache-2.0
/// TLP prefixes: their first bytes, and what the PASID prefix and the handle prefix hold.
#pragma once

#include <cstdint>

#include "flitwise/ids.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// First byte of a prefix. [LNK-3.3] kFlitModeLocal: in flit mode alone. [LNK-11.13]
namespace prefix {
inline constexpr std::uint8_t kMrIov = 0x80, kFlitModeLocal = 0x8d, kVendorLocal0 = 0x8e,
                              kVendorLocal1 = 0x8f, kExtTph = 0x90, kPasid = 0x91, kIde = 0x92,
                              kVendorEndEnd0 = 0x9e, kVendorEndEnd1 = 0x9f;
}  // namespace prefix

inline constexpr unsigned kMaxPrefixes = 4;  ///< End-End prefixes of one TLP [LNK-3.2]

constexpr std::uint8_t prefix_type(std::uint32_t dw) {
  return static_cast<std::uint8_t>(dw >> 24);
}
/// Bit 28 tells End-End from local prefixes. [LNK-3.1]
constexpr bool is_end_end_prefix(std::uint32_t dw) {
  return ((dw >> 28) & 1U) != 0;
}
constexpr bool is_known_prefix(std::uint32_t dw) {
  for (const std::uint8_t known :
       {prefix::kMrIov, prefix::kVendorLocal0, prefix::kVendorLocal1, prefix::kExtTph,
        prefix::kPasid, prefix::kIde, prefix::kVendorEndEnd0, prefix::kVendorEndEnd1}) {
    if (prefix_type(dw) == known) {
      return true;
    }
  }
  return false;
}

/// [LNK-3.4]
constexpr std::uint32_t pasid_prefix(Pasid pasid, bool privileged_mode_requested,
                                     bool execute_requested) {
  return std::uint32_t{prefix::kPasid} << 24 | (privileged_mode_requested ? 1U << 21 : 0U) |
         (execute_requested ? 1U << 20 : 0U) | (to_int(pasid) & 0xfffffU);
}

/// A handle in a vendor End-End prefix. model: the handle is in [11:0]. [DHI D23]
constexpr std::uint32_t handle_prefix(Dhi handle) {
  return std::uint32_t{prefix::kVendorEndEnd0} << 24 | (to_int(handle) & 0xfffU);
}
constexpr bool is_handle_prefix(std::uint32_t dw) {
  return prefix_type(dw) == prefix::kVendorEndEnd0;
}
constexpr Dhi handle_of_prefix(std::uint32_t dw) {
  return static_cast<Dhi>(dw & 0xfffU);
}

/// Further prefixes of a TLP that are local: they go first. [LNK-3.2]
constexpr unsigned local_prefixes(const Tlp& tlp) {
  unsigned locals = 0;
  while (locals < tlp.other_prefix_count && !is_end_end_prefix(tlp.other_prefixes[locals])) {
    ++locals;
  }
  return locals;
}

}  // namespace flitwise
