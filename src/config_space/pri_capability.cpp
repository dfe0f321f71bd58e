// SPDX-License-Identifier: Apache-2.0
// Registers of the Page Request Interface, which keeps their state itself.
#include "config_space/ats_capability.h"
#include "config_space/register_file.h"
#include "config_space/registers.h"

namespace flitwise {

namespace pri = cfg::pri;

namespace {
constexpr std::uint8_t kControlByte = 0x1, kStatusByte = 0x4, kWholeDw = 0xf;

std::uint32_t read_register(const PageRequestInterface& interface, std::uint16_t offset) {
  switch (offset) {
    case pri::kControlDw:
      return (interface.is_enabled() ? pri::kEnable : 0U) |
             (interface.has_response_failure() ? pri::kResponseFailure : 0U) |
             (interface.has_unexpected_index() ? pri::kUnexpectedIndex : 0U) |
             (interface.is_stopped() ? pri::kStopped : 0U) |
             (interface.config().wants_response_pasid ? pri::kResponsePasidRequired : 0U);
    case pri::kCapacity:
      return interface.config().capacity;
    case pri::kAllocation:
      return interface.allocation();
    default:
      return 0;
  }
}

void write_register(PageRequestInterface& interface, std::uint16_t offset, std::uint32_t value,
                    std::uint8_t byte_enables, WriteEffect& effect) {
  PageRequestMisuse misuse;
  if (offset == pri::kControlDw) {
    if ((byte_enables & kStatusByte) != 0) {
      interface.write_status((value & pri::kResponseFailure) != 0,
                             (value & pri::kUnexpectedIndex) != 0);
    }
    if ((byte_enables & kControlByte) != 0) {
      misuse = interface.write_control((value & pri::kEnable) != 0, (value & pri::kReset) != 0);
      effect.pri_control_changed = true;
    }
  } else if (offset == pri::kAllocation && byte_enables != 0) {
    const std::uint32_t mask = byte_mask(byte_enables);
    misuse = interface.write_allocation((interface.allocation() & ~mask) | (value & mask));
    effect.pri_control_changed = true;
  }
  effect.pri_misused |= misuse.any();
}
}  // namespace

Capability pri_capability(PageRequestInterface& interface) {
  Capability capability = Capability::extended(cfg::kExtPri, 0x10, {});
  capability.owner = {
      [&interface](std::uint16_t offset) { return read_register(interface, offset); },
      [&interface](std::uint16_t offset, std::uint32_t value, std::uint8_t byte_enables,
                   WriteEffect& effect) {
        write_register(interface, offset, value, byte_enables, effect);
      },
      [&interface](ResetKind) { interface.reset(); }};
  return capability;
}

std::vector<CfgAccess> pri_accesses(Bdf function, std::uint16_t start, std::uint32_t allocation,
                                    bool enable) {
  const CfgAccess control{true, function, register_at(start, pri::kControlDw),
                          enable ? pri::kEnable : 0U, kControlByte};
  if (!enable) {
    return {control};
  }
  return {{true, function, register_at(start, pri::kAllocation), allocation, kWholeDw}, control};
}

}  // namespace flitwise
