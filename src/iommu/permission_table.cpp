// SPDX-License-Identifier: Apache-2.0
// Words of permission tables.
#include "iommu/permission_table.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kReserved = 0xf78;  // of words above level 1

}  // namespace

// A word names permissions or a table, never both.
bool PermissionWord::has_reserved(const IommuCapabilities& offers) const {
  if (level == 1) {
    return false;
  }
  const std::uint64_t other =
      is_leaf() ? bits_from(kPageBits) : kRead | kWrite | bits_from(offers.host_address_bits);
  return (raw & (kReserved | other)) != 0;
}

PagePermission PermissionWord::of(std::uint64_t address) const {
  if (level > 1) {
    return {(raw & kRead) != 0, (raw & kWrite) != 0};
  }
  const std::uint64_t bits = raw >> permission_shift(address);
  return {(bits & 1U) != 0, (bits & 2U) != 0};
}

}  // namespace flitwise
