// SPDX-License-Identifier: Apache-2.0
// Finds handles that mean different domains at the two ends. [DHI S2]
#include "dhi/coherence.h"

namespace flitwise {

std::vector<HandleMismatch> mismatches(const DeviceHandleTable& device,
                                       const HostHandleTable& host) {
  std::vector<HandleMismatch> found;
  const HandleRange range = device.range();
  for (unsigned i = 0; i < range.size(); ++i) {
    const Dhi dhi{static_cast<std::uint16_t>(to_int(range.lower) + i)};
    const auto at_device = device.resolve(dhi);
    const auto at_host = host.resolve(dhi);
    if (at_device && at_host && at_device->identity != at_host->identity) {
      found.push_back({dhi, at_device->identity, at_host->identity});
    }
  }
  return found;
}

}  // namespace flitwise
