// SPDX-License-Identifier: Apache-2.0
// Registers of ATS, PASID and the Page Request Interface, which keeps their state itself.
#include "config_space/ats_capability.h"

#include <string>

#include "ats/invalidation.h"
#include "config_space/registers.h"
#include "flitwise/error.h"

namespace flitwise {

namespace ats = cfg::ats;
namespace pasid = cfg::pasid;
namespace pri = cfg::pri;

namespace {
constexpr std::uint8_t kControlHalf = 0xc;  ///< byte enables of the upper two bytes
}  // namespace

Capability ats_capability(const AtsOptions& options) {
  FLITWISE_CHECK(options.queue_depth >= 1 && options.queue_depth <= kItags,
                 "Invalidate Queue Depth " + std::to_string(options.queue_depth));
  const std::uint32_t depth = options.is_virtual ? 0 : options.queue_depth % kItags;
  const std::uint32_t stu = options.is_virtual ? 0 : ats::kStuMask << ats::kStuShift;
  Capability capability =
      Capability::extended(cfg::kExtAts, 8,
                           {{ats::kControlDw,
                             depth | (options.is_page_aligned ? ats::kPageAligned : 0U) |
                                 (options.has_global_invalidate ? ats::kGlobalInvalidate : 0U),
                             stu | ats::kEnable}});
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    const std::uint32_t changed = write.before ^ write.after;
    effect.ats_control_changed |= changed != 0;
    effect.stu_changed_live |= (changed & ats::kStuMask << ats::kStuShift) != 0 &&
                               (write.before & write.after & ats::kEnable) != 0;
  };
  return capability;
}

AtsControl ats_control(const ConfigSpace& space, const ConfigSpace* physical) {
  AtsControl control;
  const std::optional<std::uint16_t> own = space.find_extended(cfg::kExtAts);
  const ConfigSpace& shared = physical != nullptr ? *physical : space;
  const std::optional<std::uint16_t> common = shared.find_extended(cfg::kExtAts);
  if (!own || !common) {
    return control;
  }
  const std::uint32_t value = space.read(register_at(*own, ats::kControlDw));
  const std::uint32_t of_device = shared.read(register_at(*common, ats::kControlDw));
  control.is_enabled = (value & ats::kEnable) != 0;
  control.is_page_aligned = (value & ats::kPageAligned) != 0;
  control.stu = static_cast<std::uint8_t>(of_device >> ats::kStuShift & ats::kStuMask);
  control.queue_depth = invalidate_queue_depth(of_device & ats::kQueueDepthMask);
  return control;
}

Capability pasid_capability(const PasidOptions& options) {
  FLITWISE_CHECK(options.width >= 1 && options.width <= kPasidBits,
                 "Max PASID Width " + std::to_string(options.width));
  const std::uint32_t execute = options.has_execute ? pasid::kExecuteSupported : 0U;
  const std::uint32_t privileged = options.has_privileged ? pasid::kPrivilegedSupported : 0U;
  // The enables stand in the upper half where their capabilities stand in the lower one.
  Capability capability = Capability::extended(
      cfg::kExtPasid, 8,
      {{pasid::kControlDw, options.width << pasid::kWidthShift | execute | privileged,
        pasid::kEnable | execute << 16 | privileged << 16}});
  capability.on_write = told_as(&WriteEffect::pasid_control_changed);
  return capability;
}

PasidControl pasid_control(const ConfigSpace& space) {
  PasidControl control;
  const std::optional<std::uint16_t> start = space.find_extended(cfg::kExtPasid);
  if (!start) {
    return control;
  }
  const std::uint32_t value = space.read(register_at(*start, pasid::kControlDw));
  control.is_enabled = (value & pasid::kEnable) != 0;
  control.has_execute = (value & pasid::kExecuteSupported << 16) != 0;
  control.has_privileged = (value & pasid::kPrivilegedSupported << 16) != 0;
  control.width = value >> pasid::kWidthShift & pasid::kWidthMask;
  return control;
}

std::vector<CfgAccess> ats_accesses(Bdf function, std::uint16_t start, unsigned stu, bool enable) {
  const std::uint32_t control =
      (stu & ats::kStuMask) << ats::kStuShift | (enable ? ats::kEnable : 0U);
  return {{true, function, register_at(start, ats::kControlDw), control, kControlHalf}};
}

std::vector<CfgAccess> pasid_accesses(Bdf function, std::uint16_t start,
                                      const PasidControl& control) {
  const std::uint32_t value = (control.is_enabled ? pasid::kEnable : 0U) |
                              (control.has_execute ? pasid::kExecuteSupported << 16 : 0U) |
                              (control.has_privileged ? pasid::kPrivilegedSupported << 16 : 0U);
  return {{true, function, register_at(start, pasid::kControlDw), value, kControlHalf}};
}

// ---- Page Request

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
    case pri::kCapacity: return interface.config().capacity;
    case pri::kAllocation: return interface.allocation();
    default: return 0;
  }
}

void write_register(PageRequestInterface& interface, std::uint16_t offset, std::uint32_t value,
                    std::uint8_t byte_enables, WriteEffect& effect) {
  bool is_misused = false;
  if (offset == pri::kControlDw) {
    if ((byte_enables & kStatusByte) != 0) {
      interface.write_status((value & pri::kResponseFailure) != 0,
                             (value & pri::kUnexpectedIndex) != 0);
    }
    if ((byte_enables & kControlByte) != 0) {
      is_misused = interface.write_control((value & pri::kEnable) != 0, (value & pri::kReset) != 0);
      effect.pri_control_changed = true;
    }
  } else if (offset == pri::kAllocation && byte_enables != 0) {
    const std::uint32_t mask = byte_mask(byte_enables);
    is_misused = interface.write_allocation((interface.allocation() & ~mask) | (value & mask));
    effect.pri_control_changed = true;
  }
  effect.pri_misused |= is_misused;
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
