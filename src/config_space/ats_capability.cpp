// SPDX-License-Identifier: Apache-2.0
// Registers of ATS and PASID.
#include "config_space/ats_capability.h"

#include <string>

#include "ats/invalidation_sender.h"
#include "config_space/registers.h"
#include "flitwise/error.h"

namespace flitwise {

namespace ats = cfg::ats;
namespace pasid = cfg::pasid;

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

}  // namespace flitwise
