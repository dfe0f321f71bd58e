// SPDX-License-Identifier: Apache-2.0
#include "network/fabric_background.h"

#include <fmt/format.h>

#include "network/addresses.h"
#include "network/flow_hash.h"
#include "network/network_event.h"
#include "rdma/rdma_frame.h"

namespace flitwise {
namespace {

constexpr std::size_t kHeaderBytes = 14 + 20 + 8;  // UDP without BTH

BackgroundKind kind_of(BackgroundTraffic traffic) {
  return traffic == BackgroundTraffic::kPoisson ? BackgroundKind::kPoisson
         : traffic == BackgroundTraffic::kCbr   ? BackgroundKind::kConstant
                                                : BackgroundKind::kOnOff;
}

}  // namespace

FabricBackground::FabricBackground(const NetworkConfig& network, const NetworkGraph& graph,
                                   const Random& random, EventQueue& events)
    : hash_(network.ecmp.hash),
      is_symmetric_(network.ecmp.is_symmetric),
      bytes_(wire_bytes_of(kHeaderBytes + network.background.bytes)),
      random_(random.split("background")),
      events_(events) {
  const auto& background = network.background;
  if (background.kind == BackgroundTraffic::kNone) {
    return;
  }
  BackgroundRules rules;
  rules.kind = kind_of(background.kind);
  rules.bytes = bytes_;
  rules.on = background.on;
  rules.off = background.off;
  for (NodeId host = 0; host < graph.hosts(); ++host) {
    rules.gbps = background.load * graph.port(graph.ports_of(host)[0]).rate.gbps;
    hosts_.push_back({BackgroundPackets(rules, random_.split(fmt::format("h{}", host)))});
    events_.add(hosts_[host].packets.next(), event_of(NetworkEvent::kBackground, host));
  }
}

void FabricBackground::come(NodeId host) {
  ++hosts_[host].waiting;
  events_.add(hosts_[host].packets.next(), event_of(NetworkEvent::kBackground, host));
}

// To any other host, by any ports.
void FabricBackground::take(NodeId host, FabricPacket& packet) {
  const auto hosts = static_cast<std::uint32_t>(hosts_.size());
  --hosts_[host].waiting;
  packet = FabricPacket{};
  packet.kind = FabricPacket::Kind::kPlainUdp;
  packet.destination = static_cast<NodeId>((host + 1 + random_.below(hosts - 1)) % hosts);
  packet.tuple = {ipv4_of_port(host), ipv4_of_port(packet.destination),
                  static_cast<std::uint16_t>(random_.below(1U << 16)),
                  static_cast<std::uint16_t>(random_.below(1U << 16))};
  packet.hash = hash_of({packet.tuple.source, packet.tuple.destination, packet.tuple.source_port,
                         packet.tuple.destination_port},
                        hash_, is_symmetric_);
  packet.bytes = bytes_;
}

}  // namespace flitwise
