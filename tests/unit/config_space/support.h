// SPDX-License-Identifier: Apache-2.0
/// Where a register of a capability is.
#pragma once

#include <cstdint>

#include "config_space/config_space.h"
#include "config_space/registers.h"

namespace flitwise::test {

inline std::uint16_t pcie_at(const ConfigSpace& space, unsigned offset) {
  return static_cast<std::uint16_t>(*space.find(cfg::kCapPcie) + offset);
}
inline std::uint16_t extended_at(const ConfigSpace& space, std::uint16_t id, unsigned offset) {
  return static_cast<std::uint16_t>(*space.find_extended(id) + offset);
}

}  // namespace flitwise::test
