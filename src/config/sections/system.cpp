// SPDX-License-Identifier: Apache-2.0
// Table of the section `system`.
#include "config/sections/sections.h"
#include "topology/graph.h"

namespace flitwise::config {

Keys system_keys() {
  return {
      choice(KEY(system.topology),
             "One root port for each device, all devices of a host below one switch, or nodes and "
             "edges."),
      count(KEY(system.hosts), between(1, kMostHosts),
            "Hosts, each with memory, a translation agent and root ports of its own; names of what "
            "belongs to the second one start with h1., and so on."),
      count(KEY(system.devices), between(1, kMostDevices),
            "Number of devices of each host, named ep0, ep1 and so on; of topology direct and "
            "switch."),
      nodes_key(),
      edges_key(),
      choice(KEY(system.switch_mode), "Whether switches know handles in the Requester ID field."),
      flag("system.source_validation", AT(system.acs.source_validation),
           "Downstream ports of switches check the bus number of Requester IDs."),
      flag(KEY(system.acs.source_validation), "The same as system.source_validation."),
      choice(KEY(system.acs.p2p_request),
             "Requests to a peer below the same switch go there, or up to the root complex."),
      choice(KEY(system.acs.p2p_completion),
             "Completions to a peer below the same switch go there, or up to the root complex."),
      egress_key(),
      flag(KEY(system.acs.direct_translated),
           "Requests to a peer with a translated address go there whatever the other keys say."),
      time("system.timing.switch_forward", AT(system.switch_timing.forward), any_latency(),
           "Switch: from ingress to egress."),
  };
}

}  // namespace flitwise::config
