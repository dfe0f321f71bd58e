// SPDX-License-Identifier: Apache-2.0
// Designated vendor-specific capability: header here, registers with their owner. [DHI D5]
#include <utility>

#include "config_space/capabilities.h"

namespace flitwise {

Capability dvsec_capability(DvsecOptions options) {
  Capability capability;
  capability.id = cfg::kExtDvsec;
  capability.is_extended = true;
  capability.size = options.size;
  capability.owner = std::move(options.owner);
  return capability;
}

std::optional<std::uint16_t> find_dvsec(const ConfigSpace& space, std::uint16_t vendor,
                                        std::uint16_t dvsec_id) {
  std::uint16_t start = cfg::kExtendedStart;
  while (start != 0) {
    const std::uint32_t header = space.read(start);
    const bool is_dvsec = (header & 0xffffU) == cfg::kExtDvsec;
    if (is_dvsec &&
        (space.read(static_cast<std::uint16_t>(start + cfg::dvsec::kHeader1)) & 0xffffU) ==
            vendor &&
        (space.read(static_cast<std::uint16_t>(start + cfg::dvsec::kHeader2)) & 0xffffU) ==
            dvsec_id) {
      return start;
    }
    start = static_cast<std::uint16_t>(header >> 20);
  }
  return std::nullopt;
}

}  // namespace flitwise
