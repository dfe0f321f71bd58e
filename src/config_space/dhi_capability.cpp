// SPDX-License-Identifier: Apache-2.0
// Accesses to the DHI capability, routed to its registers.
#include "config_space/dhi_capability.h"

#include <utility>

#include "config_space/capabilities.h"
#include "config_space/register_file.h"

namespace flitwise {

Capability dhi_capability(DhiDvsec& registers) {
  DvsecOptions options;
  options.size = dvsec::kLength;
  options.owner.read = [&registers](std::uint16_t offset) { return registers.read(offset, 0); };
  options.owner.write = [&registers](std::uint16_t offset, std::uint32_t value,
                                     std::uint8_t byte_enables, WriteEffect& effect) {
    effect.dhi_control_changed |= registers.write(offset, value, byte_enables);
  };
  options.owner.reset = [&registers](ResetKind) { registers.reset(); };
  return dvsec_capability(std::move(options));
}

std::vector<CfgAccess> dhi_accesses(Bdf function, std::uint16_t start, const DhiSetUp& set_up) {
  const std::uint32_t range = to_int(set_up.range.lower) | std::uint32_t{to_int(set_up.range.upper)}
                                                               << dvsec::kUpperShift;
  const std::uint32_t control = (set_up.is_enabled ? dvsec::kEnable : 0U) |
                                (set_up.is_software_managed ? dvsec::kSoftwareManaged : 0U) |
                                std::uint32_t{set_up.epoch} << dvsec::kEpochShift;
  return {{true, function, register_at(start, dvsec::kRange), range, 0xf},
          {true, function, register_at(start, dvsec::kControl), control, 0xf}};
}

}  // namespace flitwise
