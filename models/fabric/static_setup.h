// SPDX-License-Identifier: Apache-2.0
/// What enumeration would leave in the bridges of a switch, written at once: for machines whose
/// software has nothing to tell about its start.
#pragma once

#include <cstdint>
#include <vector>

#include "config_space/enumeration.h"
#include "dhi/handle_types.h"
#include "switch/switch.h"

namespace flitwise {

/// One device below a downstream port, or another switch with all that is below it.
struct BelowSwitch {
  unsigned buses = 1;      ///< for its functions
  std::uint64_t bars = 0;  ///< bytes of all its BARs
};

/// Windows are whole MiB, and at least one.
std::uint64_t in_mib(std::uint64_t bytes);

struct SwitchSetUp {
  std::vector<BusRange> buses;        ///< by downstream port
  std::vector<AddressRange> windows;  ///< by downstream port: whole MiB
};

/// Where windows start. model: far above any host memory, as `EnumeratorOptions::mmio`.
inline constexpr std::uint64_t kWindowBase = std::uint64_t{1} << 40;

/// Numbers buses from `bus` (that of the link to the upstream port) on, gives each port a window
/// from `window` on, enables memory and bus mastering, and sets ACS of downstream ports.
/// REQUIRES: one device or switch a downstream port.
SwitchSetUp set_up_switch(Switch& sw, std::uint8_t bus, const std::vector<BelowSwitch>& below,
                          const AccessControl& acs, std::uint64_t window = kWindowBase);

}  // namespace flitwise
