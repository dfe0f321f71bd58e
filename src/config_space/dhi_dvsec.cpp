// SPDX-License-Identifier: Apache-2.0
// Register bits of the DHI capability, as docs/formats/dhi_dvsec.md lays them out.
#include "config_space/dhi_dvsec.h"

#include "config_space/capabilities.h"
#include "dhi/dhi_message.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kSupported = 1;
constexpr unsigned kBitsShift = 4;
constexpr std::uint32_t kEpoch = 0xffU << dvsec::kEpochShift;
constexpr std::uint32_t kRangeMask =
    (std::uint32_t{kHandleMask} << dvsec::kUpperShift) | kHandleMask;

// The device knows stall and bypass, and handles of its own and of software.
constexpr std::uint32_t kAllKinds = 0xfU << 8;

}  // namespace

DhiCapability DhiCapability::of(const DeviceConfig& device) {
  return {device.dhi.supported, device.dhi.bits};
}

DhiDvsec::DhiDvsec(const DhiCapability& capability) {
  const std::uint32_t enable = capability.is_supported ? dvsec::kEnable : 0U;
  const NegotiationOutcome unwritten =
      capability.is_supported ? NegotiationOutcome::kNotEnabled : NegotiationOutcome::kNotSupported;
  const Register registers[] = {
      {dvsec::kHeader1, kHandleVendorId | std::uint32_t{dvsec::kLength} << 20},
      {dvsec::kHeader2, dvsec::kDvsecId},
      {dvsec::kCapability,
       (capability.is_supported ? kSupported : 0U) | capability.bits << kBitsShift | kAllKinds},
      {dvsec::kControl, 0, kEpoch | dvsec::kSoftwareManaged | enable},
      {dvsec::kRange, ((1U << capability.bits) - 1U) << dvsec::kUpperShift, kRangeMask},
      {dvsec::kStatus, static_cast<std::uint32_t>(unwritten) << dvsec::kOutcomeShift}};
  for (const Register& definition : registers) {
    registers_.define(0, definition);
  }
}

bool DhiDvsec::write(std::uint16_t offset, std::uint32_t value, std::uint8_t byte_enables) {
  const std::uint32_t before = read(offset);
  registers_.write(offset, value, byte_enables);
  return read(offset) != before;
}

HandleEnd DhiDvsec::end() const {
  const std::uint32_t capability = read(dvsec::kCapability), control = read(dvsec::kControl);
  return {(capability & kSupported) != 0, (control & dvsec::kEnable) != 0,
          capability >> kBitsShift & 0xfU,
          static_cast<std::uint8_t>(control >> dvsec::kEpochShift)};
}

HandleRange DhiDvsec::range() const {
  const std::uint32_t range = read(dvsec::kRange);
  return {Dhi{static_cast<std::uint16_t>(range & kHandleMask)},
          Dhi{static_cast<std::uint16_t>(range >> dvsec::kUpperShift & kHandleMask)}};
}

void DhiDvsec::set_outcome(const Negotiated& negotiated) {
  registers_.set(dvsec::kStatus, ~0U,
                 (negotiated.is_active() ? 1U : 0U) |
                     static_cast<std::uint32_t>(negotiated.outcome) << dvsec::kOutcomeShift |
                     std::uint32_t{negotiated.epoch} << 16);
}

Capability dhi_capability(DhiDvsec& registers) {
  return dvsec_capability(
      dvsec::kLength, {[&registers](std::uint16_t offset) { return registers.read(offset); },
                       [&registers](std::uint16_t offset, std::uint32_t value,
                                    std::uint8_t byte_enables, WriteEffect& effect) {
                         effect.dhi_control_changed |= registers.write(offset, value, byte_enables);
                       },
                       [&registers](ResetKind) { registers.reset(); }});
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
