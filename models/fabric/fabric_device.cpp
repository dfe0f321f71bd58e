// SPDX-License-Identifier: Apache-2.0
// Shares of devices.
#include "fabric/fabric_device.h"

#include <algorithm>

#include "config/load.h"
#include "endpoint/domain_numbers.h"
#include "workload/workload.h"

namespace flitwise {

DeviceShare DeviceShare::of(const Config& config, const FabricDevice& device) {
  const auto& dhi = for_instance(config, device.root_port->name()).host.dhi;
  const std::uint32_t domains = domain_ids(device.config.workload);
  const std::uint32_t per_pasid = DomainNumbers(device.config.device).per_pasid();
  DeviceShare share;
  share.last_pasid = (domains - 1) / per_pasid;
  if (dhi.grant == GrantPolicy::kConfigured) {
    share.first_pasid = dhi.granted.first_pasid;
    share.last_pasid = dhi.granted.last_pasid;
    share.may_omit_pasid = dhi.granted.without_pasid;
  }
  const auto domain_at = [&](std::uint64_t pasid) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(pasid * per_pasid, domains));
  };
  share.first_domain = domain_at(share.first_pasid);
  share.end_domain = domain_at(std::uint64_t{share.last_pasid} + 1);
  return share;
}

bool DeviceShare::has(OptionalId<Pasid> pasid) const {
  return pasid ? to_int(*pasid) >= first_pasid && to_int(*pasid) <= last_pasid : may_omit_pasid;
}

bool owns_function(const FabricDevice& device, Bdf function) {
  const int index = function.value - device.endpoint->base().value;
  return index >= 0 && static_cast<unsigned>(index) < device.config.device.functions.count;
}

}  // namespace flitwise
