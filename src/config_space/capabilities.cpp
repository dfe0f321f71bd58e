// SPDX-License-Identifier: Apache-2.0
// Capabilities of a few registers: power management, MSI-X, ARI, ACS, SR-IOV, DVSEC.
#include "config_space/capabilities.h"

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
  return Capability::standard(cfg::kCapMsix, 12,
                              {{cfg::msix::kControlDw, (options.vectors - 1) << 16,
                                cfg::msix::kEnable | cfg::msix::kFunctionMask},
                               {cfg::msix::kTable, (options.table_offset & ~7U) | options.bar},
                               {cfg::msix::kPba, (options.pba_offset & ~7U) | options.bar}});
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
  constexpr std::uint32_t kControlBits =
      sriov::kVfEnable | sriov::kVfMemorySpace | sriov::kAriHierarchy | sriov::kVfTenBitRequester;
  Capability capability =
      Capability::extended(cfg::kExtSriov, 0x40, bar_registers(sriov::kVfBar0, options.vf_bars));
  const std::vector<Register> fixed{
      {0x04, 1U << 2},  // VF 10-bit tag requester supported.
      {sriov::kControl, 0, kControlBits},
      {sriov::kInitialTotal, options.total_vfs | std::uint32_t{options.total_vfs} << 16},
      {sriov::kNumVfs, 0, 0xffff},
      {sriov::kOffsetStride, options.vf_offset | std::uint32_t{options.vf_stride} << 16},
      {sriov::kVfDeviceId, std::uint32_t{options.vf_device_id} << 16},
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

// The header; registers are with their owner. [DHI D5]
Capability dvsec_capability(DvsecOptions options) {
  Capability capability = Capability::extended(cfg::kExtDvsec, options.size, {});
  capability.owner = std::move(options.owner);
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

}  // namespace flitwise
