// SPDX-License-Identifier: Apache-2.0
/// Software that resets one function: FLR, then its handles at the host, then its Bus Master
/// Enable. Function 0 takes all others with it. [DHI D4]
#pragma once

#include <functional>

#include "host/host_access.h"

namespace flitwise {

struct FunctionResetOptions {
  Bdf function;
  std::uint16_t pcie = 0;   ///< where the PCI Express capability of that function starts
  unsigned host_block = 0;  ///< handle registers of the host for its device
  bool is_first = false;    ///< function 0: the handles of all functions go
  bool enables = true;      ///< ends by setting Bus Master Enable
};

/// `done` is told whether the host has cleared the handles of the function.
void reset_function(HostAccess& bridge, const FunctionResetOptions& options,
                    std::function<void(HandleStatus)> done);

}  // namespace flitwise
