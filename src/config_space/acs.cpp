// SPDX-License-Identifier: Apache-2.0
// ACS capability of root ports and switch downstream ports. [DHI S1]
#include "config_space/capabilities.h"

namespace flitwise {

Capability acs_capability() {
  constexpr std::uint32_t kSupported = cfg::acs::kSourceValidation | cfg::acs::kP2pRequestRedirect |
                                       cfg::acs::kP2pCompletionRedirect |
                                       cfg::acs::kUpstreamForwarding;
  Capability capability;
  capability.id = cfg::kExtAcs;
  capability.is_extended = true;
  capability.size = 8;
  capability.registers = {{cfg::acs::kControl, kSupported, kSupported << 16, 0, 0, 0}};
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    effect.acs_changed |= write.before != write.after;
  };
  return capability;
}

}  // namespace flitwise
