// SPDX-License-Identifier: Apache-2.0
// ACS capability of root ports and switch downstream ports. [DHI S1]
#include "config_space/capabilities.h"

namespace flitwise {

Capability acs_capability(unsigned peers) {
  constexpr std::uint32_t kOfAll = cfg::acs::kSourceValidation | cfg::acs::kP2pRequestRedirect |
                                   cfg::acs::kP2pCompletionRedirect | cfg::acs::kUpstreamForwarding;
  constexpr std::uint32_t kAmongPeers =
      cfg::acs::kP2pEgressControl | cfg::acs::kDirectTranslatedP2p;
  const std::uint32_t supported = peers > 0 ? kOfAll | kAmongPeers : kOfAll;
  Capability capability;
  capability.id = cfg::kExtAcs;
  capability.is_extended = true;
  capability.size = 8;
  capability.registers = {{cfg::acs::kControl, supported | peers << cfg::acs::kVectorSizeShift,
                           supported << 16, 0, 0, 0}};
  for (unsigned first = 0; first < peers; first += 32) {
    const unsigned bits = peers - first;
    const std::uint32_t writable = bits >= 32 ? ~0U : (1U << bits) - 1;
    capability.registers.push_back({capability.size, 0, writable, 0, 0, 0});
    capability.size = static_cast<std::uint16_t>(capability.size + 4);
  }
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    effect.acs_changed |= write.before != write.after;
  };
  return capability;
}

}  // namespace flitwise
