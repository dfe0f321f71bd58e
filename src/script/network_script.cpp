// SPDX-License-Identifier: Apache-2.0
#include "script/network_script.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "network/addresses.h"
#include "network/ipv4_header.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kEthernetOverhead = 24;  // preamble, FCS and gap

ByteVector udp_frame(const NetworkPacket& packet, NodeId from, NodeId to) {
  constexpr std::size_t kUdpAt = kIpv4At + kIpv4Bytes, kHeaders = kUdpAt + 8;
  using boost::endian::store_big_u16;
  ByteVector frame(kHeaders + packet.payload.size());
  const auto bytes_from = [&frame](std::size_t at) {
    return static_cast<std::uint16_t>(frame.size() - at);
  };
  store_big_u16(&frame[12], 0x0800);
  std::uint8_t* const ip = &frame[kIpv4At];
  ip[0] = 0x45;
  ip[kIpv4TosAt] = packet.tos;
  store_big_u16(ip + 2, bytes_from(kIpv4At));
  ip[kIpv4TtlAt] = packet.ttl;
  ip[9] = 17;
  boost::endian::store_big_u32(ip + 12, ipv4_of_port(from));
  boost::endian::store_big_u32(ip + kIpv4DestinationAt, ipv4_of_port(to));
  store_big_u16(ip + 10, static_cast<std::uint16_t>(~internet_sum(ip, kIpv4Bytes, 0)));
  store_big_u16(&frame[kUdpAt], packet.source_port);
  store_big_u16(&frame[kUdpAt + 2], packet.destination_port);
  store_big_u16(&frame[kUdpAt + 4], bytes_from(kUdpAt));
  std::copy(packet.payload.begin(), packet.payload.end(), frame.begin() + kHeaders);
  return frame;
}

}  // namespace

const char* name_of(NetworkOutcome outcome) {
  constexpr const char* kNames[kNetworkOutcomes] = {"delivered", "ttl",  "no_route",
                                                    "link_down", "full", "red"};
  return name_in(kNames, outcome);
}

NetworkScript::Network::Network(const NetworkScriptSetup& wanted)
    : setup(wanted),
      graph(setup.plan),
      hops(graph),
      links(hops, setup.detect_delay),
      queued(graph.ports()),
      counts(graph.ports()),
      red(Random(setup.seed).split("red")),
      ports(Random(setup.seed).split("port")) {
  const Random ecmp = Random(setup.seed).split("ecmp");
  const auto seeds = switch_seeds(ecmp, setup.plan.switches.size(), setup.is_polarised);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    choices.emplace_back(setup.paths, seeds[i], ecmp.split(setup.plan.switches[i]));
  }
}

void NetworkScript::run(const NetworkLine& line, const Sink& sink) {
  if (!network_) {
    network_ = std::make_unique<Network>(NetworkScriptSetup{});
  }
  sink_ = sink;
  line.verb->apply(*this, line);
}

// Queues of hosts have room for all.
NetworkScript::Walk NetworkScript::walk(const NetworkPacket& packet, NodeId from, NodeId to) {
  Network& net = *network_;
  Walk walk{NetworkOutcome::kNoRoute, {from}, udp_frame(packet, from, to)};
  PortSet candidates = net.hops.candidates(from, to);
  PortId port = candidates.empty() ? kNoNetworkPort : candidates[0];
  while (port != kNoNetworkPort) {
    walk.outcome = leave(port, walk.frame);
    if (walk.outcome != NetworkOutcome::kDelivered) {
      break;
    }
    const NodeId node = net.graph.port(port).to;
    walk.nodes.push_back(node);
    if (node == to) {
      break;
    }
    const SwitchRead read = pass_switch(walk.frame, net.setup.view);
    candidates = net.hops.candidates(node, to);
    if (read.outcome != Forwarding::kGoesOn || candidates.empty()) {
      walk.outcome =
          read.outcome == Forwarding::kTtl ? NetworkOutcome::kTtl : NetworkOutcome::kNoRoute;
      break;
    }
    port = net.choices[node - net.graph.hosts()].choose(
        net.now, read.view, candidates, [&net](PortId one) { return net.queued[one]; });
  }
  ++net.outcomes[static_cast<std::size_t>(walk.outcome)];
  return walk;
}

NetworkOutcome NetworkScript::leave(PortId port, ByteVector& frame) {
  Network& net = *network_;
  PortCounts& counts = net.counts[port];
  const std::uint64_t queued = net.queued[port], bytes = frame.size() + kEthernetOverhead;
  if (!net.graph.is_host(net.graph.port(port).from)) {
    if (queued + bytes > net.setup.queue) {
      ++counts.full;
      return NetworkOutcome::kFull;
    }
    const Ecn ecn = ecn_of(frame[kIpv4At + kIpv4TosAt]);
    switch (red_verdict(net.setup.red, queued, ecn, net.red)) {
      case RedVerdict::kPass: break;
      case RedVerdict::kMark:
        mark_ce(frame);
        ++counts.ce;
        break;
      case RedVerdict::kDrop: ++counts.red; return NetworkOutcome::kRed;
    }
  }
  ++counts.packets;
  counts.bytes += bytes;
  return net.links.is_up(NetworkGraph::edge_of(port)) ? NetworkOutcome::kDelivered
                                                      : NetworkOutcome::kLinkDown;
}

}  // namespace flitwise
