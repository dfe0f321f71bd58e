// SPDX-License-Identifier: Apache-2.0
/// Compares both ends of a table, for checks at the end of a run. [DHI S2]
#pragma once

#include "dhi/device_handle_table.h"
#include "dhi/host_handle_table.h"

namespace flitwise {

/// Number of handles that are valid at both ends for different domains. Entries that only one end
/// has are no mismatch: their messages may be under way.
inline unsigned mismatches(const DeviceHandleTable& device, const HostHandleTable& host) {
  unsigned found = 0;
  const HandleRange range = device.range();
  for (unsigned i = 0; i < range.size(); ++i) {
    const auto at_device = device.resolve(range.at(i));
    const auto at_host = host.resolve(range.at(i));
    found += at_device && at_host && at_device->identity != at_host->identity ? 1 : 0;
  }
  return found;
}

}  // namespace flitwise
