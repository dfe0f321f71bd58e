// SPDX-License-Identifier: Apache-2.0
// What limits flows of a network of packets: wires, and what lets hosts send nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "network/packet_network.h"
#include "srdma/configured_rules.h"

namespace flitwise {
namespace {

constexpr const char *kDirection = "down", *kKind = "write";  // as flows of adapters

}  // namespace

WaitResult PacketNetwork::wire_wait(PortId port) const {
  const NetworkGraph& graph = fabric_.graph();
  const Time window = now_ - begin_;
  const NodeId from = graph.port(port).from;
  WaitResult wire{{graph.is_host(from) ? plan_.name_of(from) : fabric_.name_of(port, plan_), "port",
                   ResourceRole::kServer, kDirection, kKind,
                   key_of_wire(config_.network, graph, port), 1}};
  wire.busy = window > Time{} ? std::min(fabric_.busy(port, now_).ns() / window.ns(), 1.0) : 0;
  wire.span = window;
  return wire;
}

std::vector<WaitResult> PacketNetwork::waits() const {
  std::vector<WaitResult> all;
  for (NodeId host = 0; host < plan_.hosts; ++host) {
    all.push_back(wire_wait(fabric_.port_of(host)));
    const auto add = [&](const char* what, const std::string& key, std::uint64_t capacity,
                         StallCount stall) {
      if (stall.count > 0) {
        all.push_back(
            {{plan_.name_of(host), what, ResourceRole::kPace, kDirection, kKind, key, capacity},
             stall.count,
             stall.time,
             stall.time});
      }
    };
    add("session_room", pace_key(config_.srdma), config_.srdma.sessions,
        ports_[host].no_room(now_));
    add("window", config_.srdma.window == 0 ? "" : "device.srdma.window", config_.srdma.window,
        ports_[host].no_window(now_));
    const StallCount pauses = fabric_.pauses_of(host, now_);
    if (pauses.time > Time{}) {
      all.push_back(pause_wait(plan_.name_of(host), pauses));
    }
  }
  for (const PortId port : fabric_.switch_ports()) {
    all.push_back(wire_wait(port));
  }
  return all;
}

// Of all flows: by the host whose wire stood still longest, and by the busiest wire out of a host,
// between switches and to a host.
RequestRoute PacketNetwork::route() const {
  const NetworkGraph& graph = fabric_.graph();
  const auto still = [this](NodeId host) {
    return (ports_[host].no_room(now_) + ports_[host].no_window(now_)).time;
  };
  NodeId stillest = 0;
  std::array<PortId, 3> busiest{};
  busiest.fill(kNoNetworkPort);
  for (PortId port = 0; port < graph.ports(); ++port) {
    const NetworkGraph::Port& one = graph.port(port);
    PortId& most = busiest[graph.is_host(one.from) ? 0 : graph.is_host(one.to) ? 2 : 1];
    if (most == kNoNetworkPort || fabric_.busy(port, now_) > fabric_.busy(most, now_)) {
      most = port;
    }
    if (graph.is_host(one.from) && still(one.from) > still(stillest)) {
      stillest = one.from;
    }
  }
  RequestRoute route{name(), kDirection, kKind, flows_.started(), {}, begin_, now_};
  route.steps.push_back({plan_.name_of(stillest), kDirection, kKind});
  for (const PortId port : busiest) {
    if (port != kNoNetworkPort) {
      const bool is_of_host = port == busiest.front();
      route.steps.push_back({wire_wait(port).resource.at, kDirection, kKind, is_of_host});
    }
  }
  return route;
}

}  // namespace flitwise
