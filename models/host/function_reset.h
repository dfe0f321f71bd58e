// SPDX-License-Identifier: Apache-2.0
/// Software that resets one virtual function while the others go on: FLR, then its handles at the
/// host, then its Bus Master Enable. [DHI D4]
#pragma once

#include <functional>
#include <memory>

#include "host/host_bridge.h"

namespace flitwise {

struct FunctionResetOptions {
  Bdf function;
  std::uint16_t pcie = 0;   ///< where the PCI Express capability of that function starts
  unsigned host_block = 0;  ///< handle registers of the host for its device
};

/// `done` is told whether the host has cleared the handles of the function; traffic of it goes on.
void reset_function(HostBridge& bridge, const FunctionResetOptions& options,
                    std::function<void(HandleStatus)> done);

}  // namespace flitwise
