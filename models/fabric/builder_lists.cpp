// SPDX-License-Identifier: Apache-2.0
// All components of a machine, in the order of its results.
#include <algorithm>
#include <optional>

#include "cxl/cxl_pairs.h"
#include "fabric/builder.h"
#include "fabric/builder_pairs.h"

namespace flitwise {
namespace {

/// Index of the device of which this is true, if there is one.
template <class Condition>
std::optional<std::size_t> device_that(const Fabric& fabric, Condition condition) {
  const auto found = std::find_if(fabric.devices.begin(), fabric.devices.end(), condition);
  return found == fabric.devices.end() ? std::nullopt
                                       : std::optional<std::size_t>(found - fabric.devices.begin());
}

void list_devices(Fabric& fabric) {
  for (std::size_t i = 0; i < fabric.devices.size(); ++i) {
    FabricDevice& device = fabric.devices[i];
    for (Component* const one : device.components) {
      fabric.components.add(one, i);
    }
    fabric.components.own(std::make_unique<HandlePair>(device), i);
  }
}

// One above a switch is of all devices below it.
void list_root_ports(Fabric& fabric) {
  for (const auto& port : fabric.root_ports) {
    fabric.components.add(*port, device_that(fabric, [&](const FabricDevice& device) {
      return device.root_port == port.get() && !device.is_below_switch;
    }));
  }
  for (const auto& handles : fabric.handles) {
    fabric.components.own(std::make_unique<HandleStrangers>(*handles));
  }
}

void list_links(Fabric& fabric) {
  for (std::size_t link = 0; link < fabric.links.size(); ++link) {
    fabric.components.add(
        *fabric.links[link].link,
        device_that(fabric, [&](const FabricDevice& device) { return device.link == link; }));
  }
}

void list_switches(Fabric& fabric) {
  for (const auto& one : fabric.switches) {
    fabric.components.add(*one);
  }
}

void list_homes(Fabric& fabric) {
  for (unsigned host = 0; host < fabric.homes.size(); ++host) {
    CxlHome* const home = fabric.homes[host].get();
    if (home == nullptr) {
      continue;
    }
    fabric.components.add(*home);
    auto directory = std::make_unique<CacheDirectory>(*home);
    for (const FabricDevice& device : fabric.devices_of(host)) {
      if (device.cxl.cache != nullptr) {
        directory->add(*device.cxl.cache, device.cxl.home_port);
      }
    }
    fabric.components.own(std::move(directory));
  }
  for (const auto& watch : fabric.cache_watches) {
    fabric.components.add(*watch);
  }
}

void list_hosts(Fabric& fabric) {
  for (const auto& host : fabric.surroundings.hosts) {
    host->list(fabric.components);
  }
}

void list_balances(Fabric& fabric) {
  fabric.components.own(std::make_unique<PostedBytes>(fabric));
  fabric.components.own(std::make_unique<PacketBalance>(fabric));
}

}  // namespace

std::vector<Builder::Kind>& Builder::kinds() {
  static std::vector<Kind> all = {{list_devices},  {list_root_ports}, {list_links},
                                  {list_switches}, {list_homes},      {list_hosts},
                                  {list_balances}};
  return all;
}

void Builder::add_tables() {
  for (const Kind& kind : kinds()) {
    if (kind.table != nullptr) {
      add_table(kind.table());
    }
  }
}

}  // namespace flitwise
