// SPDX-License-Identifier: Apache-2.0
// Capabilities of PCI Express, power management, MSI-X, ARI, ACS, SR-IOV, DVSEC.
#include "config_space/capabilities.h"

#include <algorithm>
#include <string>
#include <utility>

#include "flitwise/error.h"

namespace flitwise {

namespace sriov = cfg::sriov;

// D0 and D3hot as a field; the model has no power states.
Capability power_management_capability() {
  // Version 3. No_Soft_Reset; PowerState.
  return Capability::standard(cfg::kCapPowerManagement, 8,
                              {{0x00, 0x3U << 16}, {cfg::pm::kControlStatus, 1U << 3, 0x3}});
}

// Where table and pending bits stand, and the two enables.
Capability msix_capability(const MsixOptions& options) {
  FLITWISE_CHECK(options.vectors >= 1 && options.vectors <= 2048 && options.bar <= 5,
                 "MSI-X vectors " + std::to_string(options.vectors));
  Capability capability =
      Capability::standard(cfg::kCapMsix, 12,
                           {{cfg::msix::kControlDw, (options.vectors - 1) << 16,
                             cfg::msix::kEnable | cfg::msix::kFunctionMask},
                            {cfg::msix::kTable, (options.table_offset & ~7U) | options.bar},
                            {cfg::msix::kPba, (options.pba_offset & ~7U) | options.bar}});
  capability.on_write = told_as(&WriteEffect::msix_control_changed);
  return capability;
}

// Functions 0..255 of one device. [LNK-2.3]
Capability ari_capability(std::uint8_t next_function) {
  return Capability::extended(cfg::kExtAri, 8, {{0x04, std::uint32_t{next_function} << 8}});
}

// Of root ports and switch downstream ports. [DHI S1]
Capability acs_capability(unsigned peers) {
  constexpr std::uint32_t kOfAll = cfg::acs::kSourceValidation | cfg::acs::kP2pRequestRedirect |
                                   cfg::acs::kP2pCompletionRedirect | cfg::acs::kUpstreamForwarding;
  constexpr std::uint32_t kAmongPeers =
      cfg::acs::kP2pEgressControl | cfg::acs::kDirectTranslatedP2p;
  const std::uint32_t supported = peers > 0 ? kOfAll | kAmongPeers : kOfAll;
  Capability capability = Capability::extended(
      cfg::kExtAcs, 8,
      {{cfg::acs::kControl, supported | peers << cfg::acs::kVectorSizeShift, supported << 16}});
  for (unsigned first = 0; first < peers; first += 32) {
    const unsigned bits = peers - first;
    const std::uint32_t writable = bits >= 32 ? ~0U : (1U << bits) - 1;
    capability.registers.push_back({capability.size, 0, writable});
    capability.size = static_cast<std::uint16_t>(capability.size + 4);
  }
  capability.on_write = told_as(&WriteEffect::routing_changed);
  return capability;
}

// ---- SR-IOV: the capability of a physical function, and where its virtual functions are

Capability sriov_capability(const SriovOptions& options) {
  constexpr std::uint16_t kVfDevice = 0x0002;
  constexpr std::uint32_t kControlBits =
      sriov::kVfEnable | sriov::kVfMemorySpace | sriov::kAriHierarchy | sriov::kVfTenBitRequester;
  Capability capability =
      Capability::extended(cfg::kExtSriov, 0x40, bar_registers(sriov::kVfBar0, options.vf_bars));
  const std::vector<Register> fixed{
      {0x04, 1U << 2},  // VF 10-bit tag requester supported.
      {sriov::kControl, 0, kControlBits},
      {sriov::kInitialTotal, options.total_vfs | std::uint32_t{options.total_vfs} << 16},
      {sriov::kNumVfs, 0, 0xffff},
      {sriov::kOffsetStride, 1U | 1U << 16},
      {sriov::kVfDeviceId, std::uint32_t{kVfDevice} << 16},
      {sriov::kSupportedPageSizes, 1},
      {sriov::kSystemPageSize, 1, 0x1},
  };
  capability.registers.insert(capability.registers.end(), fixed.begin(), fixed.end());
  capability.on_write = told_as(&WriteEffect::routing_changed);
  return capability;
}

std::optional<unsigned> VirtualFunctions::index_of(Bdf pf, Bdf id) const {
  const unsigned first = pf.value + offset;
  if (count == 0 || id.value < first) {
    return std::nullopt;
  }
  const unsigned distance = id.value - first;
  if (stride == 0) {
    return distance == 0 ? std::optional<unsigned>(0) : std::nullopt;
  }
  return distance % stride == 0 && distance / stride < count
             ? std::optional<unsigned>(distance / stride)
             : std::nullopt;
}

VirtualFunctions virtual_functions(const ConfigSpace& pf) {
  VirtualFunctions functions;
  const std::optional<std::uint16_t> start = pf.find_extended(cfg::kExtSriov);
  if (!start) {
    return functions;
  }
  const std::uint32_t control = pf.read(register_at(*start, sriov::kControl));
  const std::uint32_t layout = pf.read(register_at(*start, sriov::kOffsetStride));
  const unsigned total = pf.read(register_at(*start, sriov::kInitialTotal)) >> 16;
  const unsigned wanted = pf.read(register_at(*start, sriov::kNumVfs)) & 0xffffU;
  functions.offset = static_cast<std::uint16_t>(layout);
  functions.stride = static_cast<std::uint16_t>(layout >> 16);
  functions.memory_space_enabled = (control & sriov::kVfMemorySpace) != 0;
  // NumVFs beyond TotalVFs is undefined behaviour of software; model: it enables TotalVFs.
  functions.count = (control & sriov::kVfEnable) != 0 ? (wanted < total ? wanted : total) : 0;
  return functions;
}

AddressRange vf_bar(const ConfigSpace& pf, unsigned index) {
  const std::optional<std::uint16_t> start = pf.find_extended(cfg::kExtSriov);
  if (!start || index > 2) {
    return {};
  }
  const AddressRange one = pf.bar_at(register_at(*start, sriov::kVfBar0 + 8 * index));
  return {one.base, one.size * virtual_functions(pf).count};
}

// ---- DVSEC

Capability dvsec_capability(std::uint16_t size, RegisterOwner owner) {
  Capability capability = Capability::extended(cfg::kExtDvsec, size, {});
  capability.owner = std::move(owner);
  return capability;
}

std::optional<std::uint16_t> find_dvsec(const ConfigSpace& space, std::uint16_t vendor,
                                        std::uint16_t dvsec_id) {
  std::uint16_t start = cfg::kExtendedStart;
  while (start != 0) {
    const std::uint32_t header = space.read(start);
    const auto low_half = [&](unsigned offset) {
      return space.read(register_at(start, offset)) & 0xffffU;
    };
    if ((header & 0xffffU) == cfg::kExtDvsec && low_half(cfg::dvsec::kHeader1) == vendor &&
        low_half(cfg::dvsec::kHeader2) == dvsec_id) {
      return start;
    }
    start = static_cast<std::uint16_t>(header >> 20);
  }
  return std::nullopt;
}

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
  const bool is_of_switch = options.type == pcie::PortType::kUpstreamPort ||
                            options.type == pcie::PortType::kDownstreamPort;
  const std::uint32_t control2 = pcie::kTimeoutValueMask | pcie::kTimeoutDisable |
                                 pcie::kIdoRequest | pcie::kIdoCompletion |
                                 (is_downstream ? pcie::kAriForwarding : 0U) |
                                 (is_of_switch ? pcie::kAtomicEgressBlocking : 0U) |
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
      {pcie::kDeviceCap2, 0xfU | 1U << 4 | (is_downstream ? pcie::kCap2AriForwarding : 0U) |
                              (is_of_switch ? pcie::kCap2AtomicRouting : 0U) | tags | prefixes |
                              options.completes},
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

MsixControl msix_control(const ConfigSpace& space) {
  const std::uint32_t dw =
      space.read(register_at(space.find(cfg::kCapMsix).value(), cfg::msix::kControlDw));
  return {(dw & cfg::msix::kEnable) != 0, (dw & cfg::msix::kFunctionMask) != 0};
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
  control.no_snoop = (one & pcie::kNoSnoop) != 0;
  return control;
}

}  // namespace flitwise
