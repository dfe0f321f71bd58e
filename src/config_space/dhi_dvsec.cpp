// SPDX-License-Identifier: Apache-2.0
// Register bits of the DHI capability, as docs/formats/dhi_dvsec.md lays them out.
#include "config_space/dhi_dvsec.h"

#include <utility>

#include "config_space/capabilities.h"
#include "dhi/dhi_message.h"

namespace flitwise {
namespace {

using dvsec::kEnable;
using dvsec::kSoftwareManaged;
constexpr std::uint32_t kEpoch = 0xffU << dvsec::kEpochShift;
constexpr std::uint32_t kRangeMask =
    (std::uint32_t{kHandleMask} << dvsec::kUpperShift) | kHandleMask;

// The device knows stall and bypass, and handles of its own and of software.
constexpr std::uint32_t kAllKinds = 0xfU << 8;

}  // namespace

DhiCapability DhiCapability::of(const DeviceConfig& device) {
  return {device.dhi.supported, device.dhi.bits};
}

DhiDvsec::DhiDvsec(const DhiCapability& capability) : capability_(capability) {
  reset();
}

void DhiDvsec::reset() {
  control_ = 0;
  range_ = ((1U << capability_.bits) - 1U) << 16;
  status_ = 0;
}

std::uint32_t DhiDvsec::read(std::uint16_t offset) const {
  switch (offset) {
    case dvsec::kHeader1:
      return kHandleVendorId | (static_cast<std::uint32_t>(dvsec::kLength) << 20);
    case dvsec::kHeader2:
      return dvsec::kDvsecId;
    case dvsec::kCapability:
      return (capability_.is_supported ? 1U : 0U) | (capability_.bits & 0xfU) << 4 | kAllKinds;
    case dvsec::kControl:
      return control_;
    case dvsec::kRange:
      return range_;
    case dvsec::kStatus:
      return status_;
    default:
      return 0;
  }
}

bool DhiDvsec::write(std::uint16_t offset, std::uint32_t value, std::uint8_t byte_enables) {
  std::uint32_t writable = 0;
  std::uint32_t* target = nullptr;
  if (offset == dvsec::kControl) {
    writable = kEpoch | kSoftwareManaged | (capability_.is_supported ? kEnable : 0U);
    target = &control_;
  } else if (offset == dvsec::kRange) {
    writable = kRangeMask;
    target = &range_;
  } else {
    return false;
  }
  writable &= byte_mask(byte_enables);
  const std::uint32_t before = *target;
  *target = (before & ~writable) | (value & writable);
  return *target != before;
}

HandleEnd DhiDvsec::end() const {
  return {capability_.is_supported, (control_ & kEnable) != 0, capability_.bits,
          static_cast<std::uint8_t>(control_ >> 16)};
}

HandleRange DhiDvsec::range() const {
  return {Dhi{static_cast<std::uint16_t>(range_ & kHandleMask)},
          Dhi{static_cast<std::uint16_t>((range_ >> 16) & kHandleMask)}};
}

bool DhiDvsec::is_software_managed() const {
  return (control_ & kSoftwareManaged) != 0;
}

void DhiDvsec::set_outcome(const Negotiated& negotiated) {
  status_ = (negotiated.is_active() ? 1U : 0U) |
            (static_cast<std::uint32_t>(negotiated.outcome) << 4) |
            (static_cast<std::uint32_t>(negotiated.epoch) << 16);
}

Capability dhi_capability(DhiDvsec& registers) {
  DvsecOptions options;
  options.size = dvsec::kLength;
  options.owner.read = [&registers](std::uint16_t offset) { return registers.read(offset); };
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
