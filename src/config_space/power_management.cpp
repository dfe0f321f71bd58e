// SPDX-License-Identifier: Apache-2.0
// Power management capability: D0 and D3hot as a field; the model has no power states.
#include "config_space/capabilities.h"

namespace flitwise {

Capability power_management_capability() {
  Capability capability;
  capability.id = cfg::kCapPowerManagement;
  capability.size = 8;
  capability.registers = {
      {0x00, 0x3U << 16, 0, 0, 0, 0},                    // Version 3.
      {cfg::pm::kControlStatus, 1U << 3, 0x3, 0, 0, 0},  // No_Soft_Reset; PowerState.
  };
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    effect.power_state_changed |=
        write.offset == cfg::pm::kControlStatus && ((write.before ^ write.after) & 0x3U) != 0;
  };
  return capability;
}

}  // namespace flitwise
