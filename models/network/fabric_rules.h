// SPDX-License-Identifier: Apache-2.0
/// What links and switches of a network go by, as a configuration says it.
#pragma once

#include <cstdint>
#include <string>

#include "flitwise/config.h"
#include "network/network_graph.h"
#include "network/path_choice.h"
#include "network/pfc.h"
#include "network/red.h"

namespace flitwise {

/// That have to be there before a cut-through switch decides: preamble and headers up to UDP.
inline constexpr std::uint32_t kSwitchedHeaderBytes = 8 + 14 + 20 + 8;

struct PacketFabricRules {
  PathRules path;
  RedRules red;
  FlowHash hash = FlowHash::kCrc32c;
  bool is_symmetric = false, is_polarised = false, is_cut_through = false;
  std::uint64_t room = std::uint64_t{1} << 20;  ///< bytes of each output port of a switch
  Time detect = Time::from_us(1'000);
  Time util_window = Time::from_us(10);
  PfcRules pfc;
  bool keeps_waits = false;  ///< by port, for explanations
};
/// is_adaptive: some hosts send packets of the class for adaptive routing. mtu: of all of them.
PacketFabricRules fabric_rules(const NetworkConfig& network, const NetworkPlan& plan,
                               bool is_adaptive, std::uint32_t mtu);
/// The key to enlarge where the wire of a port limits: links between switches, where the topology
/// has a number of them, else the rate. Empty: none does, as the edge has a rate of its own.
std::string key_of_wire(const NetworkConfig& network, const NetworkGraph& graph, PortId port,
                        const std::string& rate_key = "network.rate");

}  // namespace flitwise
