// SPDX-License-Identifier: Apache-2.0
// Registers of bridges.
#include "fabric/static_setup.h"

#include <algorithm>

#include "config_space/registers.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

void set_bridge(Switch& sw, std::uint16_t port, std::uint8_t primary, BusRange buses,
                AddressRange window) {
  const std::uint64_t last = window.base + window.size - kMiB;
  sw.configure(port, cfg::kBusNumbers,
               std::uint32_t{primary} | std::uint32_t{buses.secondary} << 8 |
                   std::uint32_t{buses.subordinate} << 16,
               0x7);
  sw.configure(port, cfg::kPrefetchWindow,
               static_cast<std::uint32_t>((window.base >> 16 & 0xfff0U) | (last & 0xfff0'0000U)));
  sw.configure(port, cfg::kPrefetchBaseUpper, static_cast<std::uint32_t>(window.base >> 32));
  sw.configure(port, cfg::kPrefetchLimitUpper, static_cast<std::uint32_t>(last >> 32));
  sw.configure(port, cfg::kMemoryWindow, 0x0000'fff0);  // base above limit: closed
  sw.configure(port, cfg::kCommand, cfg::kCommandMemorySpace | cfg::kCommandBusMaster, 0x3);
}

void set_access_control(Switch& sw, std::uint16_t port, const AccessControl& access) {
  const auto acs = sw.config_space(port).find_extended(cfg::kExtAcs);
  FLITWISE_CHECK(acs.has_value(), "a downstream port without ACS");
  for (std::size_t i = 0; i < access.egress.size(); ++i) {
    sw.configure(port, static_cast<std::uint16_t>(*acs + cfg::acs::kEgressVector + 4 * i),
                 access.egress[i]);
  }
  sw.configure(port, static_cast<std::uint16_t>(*acs + cfg::acs::kControl), access.control << 16);
}

}  // namespace

std::uint64_t in_mib(std::uint64_t bytes) {
  return (std::max<std::uint64_t>(bytes, 1) + kMiB - 1) / kMiB * kMiB;
}

SwitchSetUp set_up_switch(Switch& sw, std::uint8_t bus, const std::vector<BelowSwitch>& below,
                          const AccessControl& acs, std::uint64_t window) {
  FLITWISE_CHECK(below.size() == sw.downstream_ports(), "one device a downstream port");
  SwitchSetUp set_up;
  const unsigned internal_bus = bus + 1U;
  unsigned next_bus = internal_bus + 1;
  std::uint64_t next_window = window;
  for (const BelowSwitch& device : below) {
    const unsigned last_bus = next_bus + device.buses - 1;
    FLITWISE_CHECK(last_bus <= 0xff, "more functions than bus numbers");
    set_up.buses.push_back(
        {static_cast<std::uint8_t>(next_bus), static_cast<std::uint8_t>(last_bus)});
    const std::uint64_t size = in_mib(device.bars);
    set_up.windows.push_back({next_window, size});
    next_bus = last_bus + 1;
    next_window += size;
  }
  set_bridge(sw, kUpstreamPort, bus,
             {static_cast<std::uint8_t>(internal_bus), set_up.buses.back().subordinate},
             {window, next_window - window});
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto port = static_cast<std::uint16_t>(i);
    set_bridge(sw, port, static_cast<std::uint8_t>(internal_bus), set_up.buses[i],
               set_up.windows[i]);
    set_access_control(sw, port, acs);
  }
  return set_up;
}

}  // namespace flitwise
