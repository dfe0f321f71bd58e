// SPDX-License-Identifier: Apache-2.0
// Table of the section `system`.
#include "config/sections/sections.h"

namespace flitwise::config {

Keys system_keys() {
  return {
      choice(
          "system.topology", [](auto& c) { return &c.system.topology; },
          "One root port for each device, or all devices below one switch."),
      count(
          "system.devices", [](auto& c) { return &c.system.devices; }, between(1, 32),
          "Number of devices, named ep0, ep1 and so on."),
      choice(
          "system.switch_mode", [](auto& c) { return &c.system.switch_mode; },
          "Whether the switch knows handles in the Requester ID field."),
      flag(
          "system.source_validation", [](auto& c) { return &c.system.source_validation; },
          "Downstream ports of the switch check the bus number of Requester IDs."),
      time(
          "system.timing.switch_forward", [](auto& c) { return &c.system.switch_timing.forward; },
          any_latency(), "Switch: from ingress to egress."),
  };
}

}  // namespace flitwise::config
