// SPDX-License-Identifier: Apache-2.0
/// What a configuration says of a network, in the words of the rules.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/random.h"
#include "flitwise/config.h"
#include "network/network_plan.h"
#include "workload/flow.h"

namespace flitwise {

/// A switch, "switch", and a host at the end of each cable.
NetworkPlan star_plan(const std::vector<EdgeRate>& cables);
/// Nodes and edges of network.topology. REQUIRES: shape_complaints() is empty.
NetworkPlan network_plan(const NetworkConfig& network);
/// The flows of workload.flows between so many hosts.
std::unique_ptr<FlowSource> flow_source(const Config& config, unsigned hosts, const Random& random);

/// Of all flows: packets that carry their bytes. Makes them all.
std::uint64_t data_packets(const Config& config);

/// Ports of the switch that has most.
std::uint32_t most_ports(const NetworkPlan& plan);
/// The edge that network.fault.link names.
std::optional<EdgeId> fault_edge(const NetworkConfig& network, const NetworkPlan& plan);

/// What does not fit together, a sentence each with the keys concerned. Nothing is simulated.
struct NetworkComplaint {
  std::vector<std::string> paths;
  std::string message;
};
/// What keeps it from being a network at all.
std::vector<NetworkComplaint> shape_complaints(const NetworkConfig& network);
/// What does not fit the nodes and edges. REQUIRES: shape_complaints() is empty.
std::vector<NetworkComplaint> plan_complaints(const NetworkConfig& network, const NetworkPlan& plan,
                                              std::uint32_t mtu);
/// All of mode packet.
std::vector<NetworkComplaint> network_complaints(const Config& config);
/// Likewise of session groups alone, in either mode. has_handshake: they do not merely stand.
std::vector<NetworkComplaint> session_complaints(const SrdmaConfig& srdma, bool has_handshake);
/// The ToS of data packets: of the class for adaptive routing, ECT(0).
std::uint8_t data_tos(const NetworkConfig& network, const SrdmaConfig& srdma);
/// Packets that ask for adaptive routing are not of its class, in either mode. [NW-4]
std::vector<NetworkComplaint> class_complaints(const NetworkConfig& network,
                                               const SrdmaConfig& srdma);
/// Pairs of ports that sessions between two hosts may have. [SG-3] REQUIRES: first_port is no later
/// than last_port.
std::uint64_t pairs_of_ports(const SrdmaConfig& srdma);

}  // namespace flitwise
