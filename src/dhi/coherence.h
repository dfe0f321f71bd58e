// SPDX-License-Identifier: Apache-2.0
/// Compares both ends of a table, for checks at the end of a run. [DHI S2]
#pragma once

#include <vector>

#include "dhi/device_handle_table.h"
#include "dhi/host_handle_table.h"

namespace flitwise {

struct HandleMismatch {
  Dhi dhi{};
  DeviceIdentity at_device;
  DeviceIdentity at_host;
};

/// Handles that are valid at both ends for different domains. Entries that only one end has are no
/// mismatch: their messages may be under way.
std::vector<HandleMismatch> mismatches(const DeviceHandleTable& device,
                                       const HostHandleTable& host);

}  // namespace flitwise
