// SPDX-License-Identifier: Apache-2.0
// What software would see in the configuration space of every function of a machine.
#include <map>

#include "config_space/config_dump.h"
#include "system/machine.h"

namespace flitwise {

std::string Machine::config_space_dump() {
  if (!boot_) {
    return "";
  }
  std::map<Bdf, const ConfigSpace*> spaces;
  for (unsigned port = 0; port < bridge_.ports(); ++port) {
    spaces[bridge_.bdf_of(port)] = &bridge_.space(port);
  }
  for (const std::unique_ptr<Switch>& one : fabric_.switches) {
    spaces[one->bdf_of(kUpstreamPort)] = &one->config_space(kUpstreamPort);
    for (unsigned port = 0; port < one->downstream_ports(); ++port) {
      const auto number = static_cast<std::uint16_t>(port);
      spaces[one->bdf_of(number)] = &one->config_space(number);
    }
  }
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    TargetUnit& target = fabric_.devices[i].endpoint->target();
    const Bdf pf = software_[i].device.pf;
    const VirtualFunctions vfs = target.virtual_functions();
    spaces[pf] = &target.space(0);
    for (unsigned vf = 0; vf < vfs.count; ++vf) {
      spaces[vfs.bdf(pf, vf)] = &target.space(vf + 1);
    }
  }
  std::string text;
  for (const auto& [function, space] : spaces) {
    text += config_dump(function, *space);
  }
  return text;
}

}  // namespace flitwise
