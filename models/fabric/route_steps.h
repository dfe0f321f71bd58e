// SPDX-License-Identifier: Apache-2.0
/// Places on the way of what engines send, for those who build them.
#pragma once

#include <string>
#include <vector>

#include "config/instances.h"
#include "fabric/builder.h"

namespace flitwise {

inline void pass(RequestRoute& route, const std::vector<std::string>& places,
                 const char* direction) {
  for (const std::string& place : places) {
    route.steps.push_back({place, direction, "write"});
  }
}

/// What a device writes.
inline void pass_to_memory_of(const FabricDevice& device, const Graph& graph, RequestRoute& route) {
  pass(route, {device.name}, "up");
  pass(route, links_above(graph, device.node), "up");
  const std::string prefix = host_prefix(device.host);
  pass(route, {device.root_port->name(), prefix + host_part::kAgent, prefix + host_part::kMemory},
       "up");
}

}  // namespace flitwise
