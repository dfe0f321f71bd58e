// SPDX-License-Identifier: Apache-2.0
// Register bits of the DHI capability, as docs/formats/dhi_dvsec.md lays them out.
#include "config_space/dhi_dvsec.h"

#include "config_space/register_file.h"
#include "dhi/dhi_message.h"

namespace flitwise {
namespace {

using dvsec::kEnable;
using dvsec::kSoftwareManaged;
constexpr std::uint32_t kEpoch = 0xffU << dvsec::kEpochShift;
constexpr std::uint32_t kRangeMask =
    (std::uint32_t{kHandleMask} << dvsec::kUpperShift) | kHandleMask;

std::uint32_t capability_bits(const DhiCapability& capability) {
  return (capability.is_supported ? 1U : 0U) | ((capability.bits & 0xfU) << 4) |
         (capability.has_stall ? 1U << 8 : 0U) | (capability.has_bypass ? 1U << 9 : 0U) |
         (capability.is_device_managed ? 1U << 10 : 0U) |
         (capability.is_software_managed ? 1U << 11 : 0U);
}

}  // namespace

DhiCapability DhiCapability::of(const DeviceConfig& device) {
  DhiCapability capability;
  capability.is_supported = device.dhi.supported;
  capability.bits = device.dhi.bits;
  return capability;
}

DhiDvsec::DhiDvsec(const DhiCapability& capability) : capability_(capability) {
  reset();
}

void DhiDvsec::reset() {
  control_ = capability_.is_device_managed ? 0U : kSoftwareManaged;
  range_ = ((1U << capability_.bits) - 1U) << 16;
  status_ = 0;
}

std::uint32_t DhiDvsec::read(std::uint16_t offset, std::uint16_t next) const {
  constexpr std::uint32_t kVersion = 1;
  switch (offset) {
    case dvsec::kHeader:
      return dvsec::kExtendedCapabilityId | (kVersion << 16) |
             (static_cast<std::uint32_t>(next) << 20);
    case dvsec::kHeader1:
      return kHandleVendorId | (static_cast<std::uint32_t>(dvsec::kLength) << 20);
    case dvsec::kHeader2:
      return dvsec::kDvsecId;
    case dvsec::kCapability:
      return capability_bits(capability_);
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
    const bool can_choose = capability_.is_device_managed && capability_.is_software_managed;
    writable =
        kEpoch | (capability_.is_supported ? kEnable : 0U) | (can_choose ? kSoftwareManaged : 0U);
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

}  // namespace flitwise
