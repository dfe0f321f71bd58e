// SPDX-License-Identifier: Apache-2.0
/// What enumeration would leave in the bridges of a switch, written at once: for machines whose
/// software has nothing to tell about its start.
#pragma once

#include <cstdint>
#include <vector>

#include "dhi/handle_types.h"
#include "switch/switch.h"

namespace flitwise {

/// One device below a downstream port.
struct BelowSwitch {
  unsigned buses = 1;      ///< for its functions
  std::uint64_t bars = 0;  ///< bytes of all its BARs
};

struct SwitchSetUp {
  std::vector<BusRange> buses;        ///< by downstream port
  std::vector<AddressRange> windows;  ///< by downstream port: whole MiB
};

/// Where windows start. model: far above any host memory, as `EnumeratorOptions::mmio`.
inline constexpr std::uint64_t kWindowBase = std::uint64_t{1} << 40;

/// Numbers buses depth first from `bus` (that of the link to the upstream port) on, gives each port
/// a window, enables memory and bus mastering, and has downstream ports redirect peer-to-peer
/// traffic and, if asked, validate sources. REQUIRES: one device a downstream port.
SwitchSetUp set_up_switch(Switch& sw, std::uint8_t bus, const std::vector<BelowSwitch>& devices,
                          bool source_validation);

}  // namespace flitwise
