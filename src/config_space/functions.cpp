// SPDX-License-Identifier: Apache-2.0
// Which capabilities each kind of function has.
#include "config_space/functions.h"

namespace flitwise {

namespace {
PcieOptions pcie_options(const EndpointSpaceOptions& endpoint) {
  PcieOptions options;
  options.link = endpoint.link;
  options.max_mps = endpoint.max_mps;
  options.extended_tag = endpoint.tag_bits >= 8;
  options.ten_bit_tag = endpoint.tag_bits >= 10;
  return options;
}
}  // namespace

ConfigSpace endpoint_space(const EndpointSpaceOptions& options) {
  ConfigSpace space = ConfigSpace::type0({}, {options.bar_size, 0, 0});
  space.add(power_management_capability());
  space.add(msix_capability(options.msix));
  space.add(pcie_capability(pcie_options(options)));
  space.add(aer_capability(false, true));
  space.add(ari_capability());
  if (options.total_vfs != 0) {
    SriovOptions sriov;
    sriov.total_vfs = options.total_vfs;
    sriov.vf_bars = {options.bar_size, 0, 0};
    space.add(sriov_capability(sriov));
  }
  if (options.ats) {
    space.add(ats_capability(*options.ats));
  }
  if (options.pasid) {
    space.add(pasid_capability(*options.pasid));
  }
  if (options.page_requests != nullptr) {
    space.add(pri_capability(*options.page_requests));
  }
  return space;
}

ConfigSpace virtual_function_space(const EndpointSpaceOptions& options) {
  FunctionIds ids;
  ids.vendor = ids.device = 0xffff;
  ConfigSpace space = ConfigSpace::type0(ids, {});
  space.add(msix_capability(options.msix));
  PcieOptions pcie = pcie_options(options);
  pcie.is_virtual = true;
  space.add(pcie_capability(pcie));
  space.add(aer_capability(false));
  space.add(ari_capability());
  if (options.ats) {
    AtsOptions ats = *options.ats;
    ats.is_virtual = true;
    space.add(ats_capability(ats));
  }
  return space;
}

ConfigSpace port_space(cfg::pcie::PortType type, const PortLink& link, std::uint8_t port_number,
                       bool is_multi_function, unsigned peers, std::uint32_t completes) {
  const bool is_root = type == cfg::pcie::PortType::kRootPort;
  FunctionIds ids;
  ids.device = static_cast<std::uint16_t>(0x0100 + static_cast<unsigned>(type));
  ConfigSpace space = ConfigSpace::type1(ids, is_multi_function);
  space.add(power_management_capability());
  PcieOptions pcie;
  pcie.type = type;
  pcie.link = link;
  pcie.port_number = port_number;
  pcie.completes = completes;
  space.add(pcie_capability(pcie));
  space.add(aer_capability(is_root, is_root));
  if (type != cfg::pcie::PortType::kUpstreamPort) {
    space.add(acs_capability(peers));
  }
  return space;
}

}  // namespace flitwise
