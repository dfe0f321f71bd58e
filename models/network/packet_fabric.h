// SPDX-License-Identifier: Apache-2.0
/// Links and switches of a network of mode packet, in time: a packet costs one event a hop. The
/// rules are those of src/network; here is when. [NW-1]
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "network/event_queue.h"
#include "network/fabric_packet.h"
#include "network/network_graph.h"
#include "network/network_result.h"
#include "network/next_hops.h"
#include "network/output_port.h"
#include "network/path_choice.h"

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
};

class PacketFabric {
 public:
  /// Packets that are no more, by reason; those without room are counted by their port.
  enum class Loss : std::uint8_t { kTtl, kNoWay, kLinkDown };
  static constexpr int kLosses = 3;

  /// An event of port p is due in `events` as p. `random`: of stream `ecmp`.
  PacketFabric(const NetworkPlan& plan, const PacketFabricRules& rules, const Random& random,
               EventQueue& events, FabricPackets& packets);

  /// The host puts it on its wire, behind those before it.
  void send(NodeId host, FabricPackets::Index packet, Time now);
  /// When the wire of the host is free.
  Time free_at(NodeId host) const { return ports_[port_of(host)].output.free_at(); }
  /// The first packet on the port has come to its end: it is the answer where that is its host;
  /// none: it has gone on, or is no more.
  FabricPackets::Index arrive(PortId port, Time now);

  // ---- links that fail
  void take_down(EdgeId edge, Time now) { links_.take_down(edge, now); }
  void bring_up(EdgeId edge, Time now) { links_.bring_up(edge, now); }
  void set_rate(EdgeId edge, double gbps);
  Time next_detection() const { return links_.next_detection(); }
  void detect(Time now) { links_.detect(now); }

  const NetworkGraph& graph() const { return graph_; }
  const NextHops& hops() const { return hops_; }
  const PacketFabricRules& rules() const { return rules_; }
  std::uint64_t lost(Loss loss) const { return lost_[static_cast<unsigned>(loss)]; }
  std::uint64_t dropped() const;                          ///< packets, for all reasons
  std::uint64_t forwarded() const { return forwarded_; }  ///< hops
  /// Output ports of switches, in the order of nodes.
  std::vector<NetworkPortResult> ports(const NetworkPlan& plan) const;

 private:
  struct Port {
    Port(double gbps, std::uint64_t room) : output(gbps, room) {}
    OutputPort output;
    FabricPackets::Index first = FabricPackets::kNone, last = FabricPackets::kNone;
    std::uint64_t lost = 0;  // while its link was down
  };

  PortId port_of(NodeId host) const { return graph_.ports_of(host)[0]; }
  void forward(NodeId node, FabricPackets::Index index, Time now);
  void put(PortId port, FabricPackets::Index index, const OutputPort::Pushed& pushed);
  void lose(FabricPackets::Index index, Loss loss);

  const PacketFabricRules rules_;
  const NetworkGraph graph_;
  NextHops hops_;
  NetworkLinks links_;
  EventQueue& events_;
  FabricPackets& packets_;
  Random marking_;
  std::vector<Port> ports_;           // by PortId
  std::vector<PathChoice> choices_;   // by switch
  std::vector<PortUtilisation> use_;  // by PortId; empty: nobody asks
  std::array<std::uint64_t, kLosses> lost_{};
  std::uint64_t forwarded_ = 0;
};

}  // namespace flitwise
