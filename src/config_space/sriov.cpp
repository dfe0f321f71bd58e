// SPDX-License-Identifier: Apache-2.0
// SR-IOV capability of a physical function, and where its virtual functions are.
#include "config_space/capabilities.h"

namespace flitwise {

namespace sriov = cfg::sriov;

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
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    const bool has_changed = write.before != write.after;
    effect.sriov_changed |= has_changed && write.offset <= sriov::kNumVfs;
    effect.bars_moved |= has_changed && write.offset >= sriov::kVfBar0;
  };
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

}  // namespace flitwise
