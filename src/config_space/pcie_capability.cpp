// SPDX-License-Identifier: Apache-2.0
// PCI Express capability: device, link and root registers. [LNK-9.8] [LNK-9.15] [LNK-9.16]
#include "config_space/capabilities.h"

#include <algorithm>
#include <string>

#include "flitwise/error.h"

namespace flitwise {

namespace pcie = cfg::pcie;

namespace {
unsigned size_of_code(std::uint32_t code) {
  return 128U << std::min(code & 7U, 5U);
}

std::uint32_t device_capability(const PcieOptions& options) {
  const bool is_endpoint = options.type == pcie::PortType::kEndpoint;
  return pcie::size_code(options.max_mps) | (options.extended_tag ? pcie::kCapExtendedTag : 0U) |
         1U << 15 |  // Role-based error reporting.
         (is_endpoint ? pcie::kCapFlr : 0U);
}

// MPS outlives a function level reset; RO, No Snoop and MRRS 512 are the reset values. A VF has
// only Initiate FLR, which is no field that is kept, and Device Status: its PF controls the rest
// for it. [LNK-9.28]
Register device_control_register(const PcieOptions& options) {
  constexpr std::uint32_t kStatus = 0xfU << 16;
  if (options.is_virtual) {
    return {pcie::kDeviceControl, 0, 0, kStatus};
  }
  const std::uint32_t writable =
      pcie::kReportCorrectable | pcie::kReportNonFatal | pcie::kReportFatal |
      pcie::kReportUnsupported | pcie::kRelaxedOrdering | 7U << pcie::kMpsShift |
      (options.extended_tag ? pcie::kExtendedTag : 0U) | pcie::kNoSnoop | 7U << pcie::kMrrsShift;
  return {pcie::kDeviceControl,
          pcie::kRelaxedOrdering | pcie::kNoSnoop | 2U << pcie::kMrrsShift,
          writable,
          kStatus,
          0,
          7U << pcie::kMpsShift};
}

std::vector<Register> registers_of(const PcieOptions& options) {
  const auto type = static_cast<std::uint32_t>(options.type);
  const std::uint32_t link = options.link.generation | options.link.lanes << 4;
  const std::uint32_t speeds = ((1U << options.link.generation) - 1U) << 1;
  const std::uint32_t tags =
      options.ten_bit_tag ? pcie::kCap2TenBitCompleter | pcie::kCap2TenBitRequester : 0U;
  // Max End-End TLP Prefixes [23:22] 0: four. [LNK-3.9]
  const std::uint32_t prefixes = pcie::kCap2ExtendedFmt | pcie::kCap2EndEndPrefix;
  const bool is_root = options.type == pcie::PortType::kRootPort;
  const bool is_downstream = is_root || options.type == pcie::PortType::kDownstreamPort;
  const std::uint32_t control2 = pcie::kTimeoutValueMask | pcie::kTimeoutDisable |
                                 pcie::kIdoRequest | pcie::kIdoCompletion |
                                 (is_downstream ? pcie::kAriForwarding : 0U) |
                                 (options.ten_bit_tag ? pcie::kTenBitRequester : 0U);
  return {
      {pcie::kCapabilities, (2U | type << 4) << 16},
      {pcie::kDeviceCap, device_capability(options), 0, 0, 0, pcie::kCapSlotPower},
      device_control_register(options),
      {pcie::kLinkCap, link | (is_downstream ? pcie::kLinkActiveReporting : 0U) |
                           std::uint32_t{options.port_number} << 24},
      {pcie::kLinkControl, link << 16 | (is_downstream ? pcie::kLinkActive : 0U),
       0xc3 | (options.link.can_be_disabled ? pcie::kLinkDisable : 0U), 0, 0, 0xc3},
      {pcie::kRootControl, 0, is_root ? 0x1fU : 0U},
      {pcie::kDeviceCap2,
       0xfU | 1U << 4 | (is_downstream ? pcie::kCap2AriForwarding : 0U) | tags | prefixes},
      {pcie::kDeviceControl2, 0, options.is_virtual ? 0U : control2},
      {pcie::kLinkCap2, speeds},
      {pcie::kLinkControl2, options.link.generation, 0xf, 0, 0xf},
  };
}
}  // namespace

Capability pcie_capability(const PcieOptions& options) {
  FLITWISE_CHECK(options.link.generation >= 1 && options.link.generation <= 6 &&
                     options.link.lanes >= 1 && options.link.lanes <= 32,
                 "generation " + std::to_string(options.link.generation) + " x" +
                     std::to_string(options.link.lanes));
  Capability capability = Capability::standard(cfg::kCapPcie, 0x3c, registers_of(options));
  const bool has_flr = options.type == pcie::PortType::kEndpoint;
  capability.on_write = [has_flr](const RegisterWrite& write, WriteEffect& effect) {
    if (write.offset == pcie::kDeviceControl) {
      // Initiate FLR always reads 0.
      effect.flr_started |= has_flr && (write.written & pcie::kInitiateFlr) != 0;
      effect.device_control_changed |= ((write.before ^ write.after) & 0xffffU) != 0;
    } else if (write.offset == pcie::kDeviceControl2) {
      effect.device_control_changed |= write.before != write.after;
    } else if (write.offset == pcie::kLinkControl) {
      effect.link_disable_changed |= ((write.before ^ write.after) & pcie::kLinkDisable) != 0;
    }
  };
  return capability;
}

DeviceControl device_control(const ConfigSpace& space) {
  const std::uint16_t start = space.find(cfg::kCapPcie).value();
  const std::uint32_t one = space.read(register_at(start, pcie::kDeviceControl));
  const std::uint32_t two = space.read(register_at(start, pcie::kDeviceControl2));
  DeviceControl control;
  control.mps = size_of_code(one >> pcie::kMpsShift);
  control.mrrs = size_of_code(one >> pcie::kMrrsShift);
  control.tag_bits = (two & pcie::kTenBitRequester) != 0 ? 10
                     : (one & pcie::kExtendedTag) != 0   ? 8
                                                         : 5;
  control.relaxed_ordering = (one & pcie::kRelaxedOrdering) != 0;
  control.id_based_ordering = (two & pcie::kIdoRequest) != 0;
  return control;
}

}  // namespace flitwise
