// SPDX-License-Identifier: Apache-2.0
// What software would see in the configuration space of every function of a machine.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "config_space/config_space.h"
#include "system/machine.h"

namespace flitwise {

std::string Machine::config_space_dump() {
  std::map<std::pair<unsigned, Bdf>, const ConfigSpace*> spaces;  // by host
  for (const auto& host : hosts_) {
    if (!host->boot) {
      return "";
    }
    for (unsigned port = 0; port < host->bridge.ports(); ++port) {
      spaces[{host->number, host->bridge.bdf_of(port)}] = &host->bridge.space(port);
    }
  }
  for (std::size_t i = 0; i < fabric_.switches.size(); ++i) {
    const Switch& one = *fabric_.switches[i];
    const unsigned host = fabric_.graph[fabric_.graph.switches()[i]].host;
    spaces[{host, one.bdf_of(kUpstreamPort)}] = &one.config_space(kUpstreamPort);
    for (unsigned port = 0; port < one.downstream_ports(); ++port) {
      const auto number = static_cast<std::uint16_t>(port);
      spaces[{host, one.bdf_of(number)}] = &one.config_space(number);
    }
  }
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    const unsigned host = fabric_.devices[i].host;
    TargetUnit& target = fabric_.devices[i].endpoint->target();
    const Bdf pf = software_.device(i).pf;
    const VirtualFunctions vfs = target.virtual_functions();
    spaces[{host, pf}] = &target.space(0);
    for (unsigned vf = 0; vf < vfs.count; ++vf) {
      spaces[{host, vfs.bdf(pf, vf)}] = &target.space(vf + 1);
    }
  }
  std::string text;
  for (const auto& [function, space] : spaces) {
    const auto& [host, bdf] = function;
    text += (host > 0 ? fmt::format("{:04x}:", host) : "") + config_dump(bdf, *space);
  }
  return text;
}

}  // namespace flitwise
