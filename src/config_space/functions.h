// SPDX-License-Identifier: Apache-2.0
/// Ready configuration spaces of the functions that a machine is made of (docs/config_space.md).
#pragma once

#include <cstdint>
#include <optional>

#include "config_space/ats_capability.h"
#include "config_space/capabilities.h"
#include "config_space/config_space.h"

namespace flitwise {

struct EndpointSpaceOptions {
  PortLink link;
  std::uint64_t bar_size = 64 << 10;  ///< BAR 0 of the PF and of each VF
  std::uint16_t total_vfs = 0;        ///< 0: no SR-IOV capability
  unsigned max_mps = 4096;
  unsigned tag_bits = 10;  ///< widest tag that is supported: 5, 8, 10 or 14
  MsixOptions msix{32, 0, 0x8000, 0xc000};
  std::optional<AtsOptions> ats;                  ///< PF and VFs; is_virtual is set for them
  std::optional<PasidOptions> pasid;              ///< PF, for its VFs too
  PageRequestInterface* page_requests = nullptr;  ///< likewise; outlives the space
};

/// Physical function 0 of an endpoint: PM, MSI-X, PCI Express, AER, ARI and, with VFs, SR-IOV; ATS,
/// PASID and Page Request where it has them. Anything else (a DVSEC) can be added behind.
ConfigSpace endpoint_space(const EndpointSpaceOptions& options);
/// One VF: ids read as FFFFh, no BARs of its own, Bus Master Enable and FLR; ATS where the PF has
/// it. [CFG-12]
ConfigSpace virtual_function_space(const EndpointSpaceOptions& options);

/// Root port, switch upstream port or switch downstream port: PM, PCI Express, AER and, looking
/// downwards, ACS. peers: downstream ports of the same switch. completes: PcieOptions::completes.
ConfigSpace port_space(cfg::pcie::PortType type, const PortLink& link, std::uint8_t port_number,
                       bool is_multi_function = false, unsigned peers = 0,
                       std::uint32_t completes = 0);

}  // namespace flitwise
