// SPDX-License-Identifier: Apache-2.0
/// Links and switches of a network, in time: a packet costs one event a hop. The rules are those of
/// src/network; here is when. Hosts are a port each, whose packets are fields; or adapters, which
/// keep the time of their wire themselves and whose packets are frames. [NW-1]
// Longer than 150 lines: hosts with a port here and adapters with one of their own use it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/fetch.h"
#include "network/fabric_packet.h"
#include "network/fabric_port.h"
#include "network/fabric_rules.h"
#include "network/ideal_time.h"
#include "network/network_event.h"
#include "network/network_graph.h"
#include "network/network_result.h"
#include "network/next_hops.h"
#include "network/output_port.h"
#include "stats/wait_book.h"

namespace flitwise {

class PacketFabric {
 public:
  /// Packets that are no more, by reason; those without room are counted by their port.
  enum class Loss : std::uint8_t { kTtl, kNoWay, kLinkDown, kBadHeader, kChance };
  static constexpr int kLosses = 5;

  /// Its events are the first four. `random`: of stream `ecmp`.
  PacketFabric(const NetworkPlan& plan, const PacketFabricRules& rules, const Random& random,
               EventQueue& events, FabricPackets& packets);

  /// The host puts it on its wire, behind those before it.
  void send(NodeId host, FabricPackets::Index packet, Time now);
  PortId port_of(NodeId host) const { return host_ports_[host]; }
  /// When the wire of the host is free.
  Time free_at(NodeId host) const { return ports_[port_of(host)].output.free_at(); }
  /// kArrival, the first event of the queue: the packet, if its host has it now; else none.
  FabricPackets::Index arrive(PortId port, Time now);

  // ---- hosts that are adapters
  /// Before the first packet: the host has a port of its own, at the other end of a cable. What is
  /// for it arrives when it begins to leave its switch; a frame says in `last` when it has left.
  void attach(NodeId host) { ports_[NetworkGraph::peer(port_of(host))].is_handed_over = true; }
  /// When the first switch has decided about what is all there at `last`.
  Time decided_at(NodeId host, Time last, std::uint32_t bytes) const;
  /// The first switch has it, and decides now.
  void enter(NodeId host, FabricPackets::Index packet, Time now);

  // ---- kArrival is about to happen: what it touches is on its way into the cache, in three steps
  void fetch_port(PortId port) const { fetch_between(&ports_[port], &ports_[port].lost); }
  void fetch_packet(PortId port) const {
    if (ports_[port].first != FabricPackets::kNone) {
      packets_.fetch(ports_[port].first, is_last_hop(port));
    }
  }
  /// And by which port it goes on, where that is known, and who comes behind it.
  void fetch_way(PortId port) const;
  /// The packet, if it comes to its host with it; none else. After fetch_packet().
  FabricPackets::Index coming_by(PortId port) const {
    return is_last_hop(port) ? ports_[port].first : FabricPackets::kNone;
  }

  // ---- ports that may be paused [CC-6]; their events have been taken
  void wire_is_free(PortId port, Time now);
  void pause(PortId port, Time now) { ports_[port].paused.pause(now); }
  void resume(PortId port, Time now);
  bool is_paused(NodeId host) const { return ports_[port_of(host)].paused.is_paused(); }
  /// How often its switch has kept the host from sending so far, and for how long.
  StallCount pauses_of(NodeId host, Time now) const {
    const PausedOutput& paused = ports_[port_of(host)].paused;
    return {paused.paused(now), paused.times()};
  }

  // ---- links that fail
  /// What has not left by it yet is lost, [NW-6]
  void take_down(EdgeId edge, Time now);
  /// but for what has not begun to.
  void bring_up(EdgeId edge, Time now);
  /// Of what waits too; not of a packet on the wire where ports may be paused.
  void set_rate(EdgeId edge, double gbps, Time now);
  void restore_rate(EdgeId edge, Time now) { set_rate(edge, graph_.port(2 * edge).rate.gbps, now); }
  /// The edge loses this share of packets by chance; it is the only one that does.
  void set_loss(EdgeId edge, double share);
  Time next_detection() const { return links_.next_detection(); }
  void detect(Time now) { links_.detect(now); }

  /// How long so many bytes take that have the network for themselves.
  Time ideal(NodeId from, NodeId to, const FlowFraming& framing, std::uint64_t bytes) const;

  const NetworkGraph& graph() const { return graph_; }
  const NextHops& hops() const { return hops_; }
  const PacketFabricRules& rules() const { return rules_; }
  std::uint64_t lost(Loss loss) const { return lost_[static_cast<unsigned>(loss)]; }
  std::uint64_t without_room() const;   ///< packets that were dropped for want of it
  std::uint64_t dropped_early() const;  ///< without ECT where others are marked
  std::uint64_t dropped() const;        ///< for all reasons
  /// By reason, under the names that results have for it; those that there are.
  CountsByKind drops_by_kind() const;
  std::uint64_t queued_bytes(PortId port, Time now) const;
  /// Output ports of switches, in the order of nodes.
  std::vector<PortId> switch_ports() const;
  std::string name_of(PortId port, const NetworkPlan& plan) const;  ///< "leaf0.2"
  NetworkPortResult result_of(PortId port, Time now) const;
  /// Of rules with keeps_waits.
  const WaitBook& waits_of(PortId port) const { return waits_[port]; }
  /// For how long its wire has worked so far.
  Time busy(PortId port, Time now) const;
  void start_window(Time now);

 private:
  using Port = FabricPort;
  bool is_last_hop(PortId port) const { return graph_.is_host(ports_[port].to); }
  void forward(NodeId node, FabricPackets::Index index, Time now);
  void mark(FabricPackets::Index index);
  bool has_lost(PortId port, FabricPackets::Index index);
  void put(PortId port, FabricPackets::Index index, const OutputPort::Pushed& pushed);
  Time due_of(const Port& port, const OutputPort::Pushed& pushed, std::uint32_t bytes) const;
  OutputPort::Pushed pushed_of(const Port& port, const FabricPacket& packet) const;
  void change_rate(PortId port, double gbps, Time now);
  void queue(PortId port, FabricPackets::Index index, Time now);
  void serve(PortId port, Time now);
  void obey(PfcAction action, PortId port, Time now);
  void lose(FabricPackets::Index index, Loss loss);

  const PacketFabricRules rules_;
  const SwitchViewRules view_;
  const NetworkGraph graph_;
  NextHops hops_;
  NetworkLinks links_;
  EventQueue& events_;
  FabricPackets& packets_;
  Random marking_;
  Random chance_;
  EdgeId lossy_ = NetworkGraph::edge_of(kNoNetworkPort);
  double loss_ = 0;                   // share of packets on that edge
  std::vector<Port> ports_;           // by PortId
  std::vector<PortId> host_ports_;    // by host
  std::vector<PathChoice> choices_;   // by switch
  std::vector<PortUtilisation> use_;  // by PortId; empty: nobody asks
  std::vector<WaitBook> waits_;       // likewise
  std::vector<double> fastest_;       // Gb/s of the ports of a node
  std::array<std::uint64_t, kLosses> lost_{};
};

}  // namespace flitwise
