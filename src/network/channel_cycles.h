// SPDX-License-Identifier: Apache-2.0
/// Whether packets that wait for each other's buffers could wait in a circle. A channel is a port;
/// it waits for another one where a packet may come by the first and leave by the second. [NW-9]
#pragma once

#include <string>
#include <vector>

#include "network/next_hops.h"

namespace flitwise {

/// Channels of a circle over all that ECMP and adaptive routing may choose on the ways of hosts to
/// hosts, each waiting for the next one and the last for the first; empty: there is none.
std::vector<PortId> find_channel_cycle(const NextHops& hops);

/// The circle as nodes: "s0 > s1 > s2 > s3 > s0".
std::string text_of_cycle(const NetworkPlan& plan, const NetworkGraph& graph,
                          const std::vector<PortId>& cycle);

}  // namespace flitwise
