// SPDX-License-Identifier: Apache-2.0
// ARI capability: functions 0..255 of one device. [LNK-2.3]
#include "config_space/capabilities.h"

namespace flitwise {

Capability ari_capability(std::uint8_t next_function) {
  Capability capability;
  capability.id = cfg::kExtAri;
  capability.is_extended = true;
  capability.size = 8;
  capability.registers = {{0x04, std::uint32_t{next_function} << 8, 0, 0, 0, 0}};
  return capability;
}

}  // namespace flitwise
