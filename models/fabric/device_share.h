// SPDX-License-Identifier: Apache-2.0
/// What of its workload's domains a device was given: what it takes beyond is an attack.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

/// The PASIDs of host.dhi.granted at its root port where that binds, and the domains that these
/// name; all of them elsewhere.
struct DeviceShare {
  std::uint32_t first_pasid = 0, last_pasid = 0;
  bool may_omit_pasid = true;                      ///< requests of the function alone are its own
  std::uint32_t first_domain = 0, end_domain = 0;  ///< not included

  static DeviceShare of(const Config& config, const FabricDevice& device);
  bool has(OptionalId<Pasid> pasid) const;
};

/// Is it one of its own?
bool owns_function(const FabricDevice& device, Bdf function);

}  // namespace flitwise
