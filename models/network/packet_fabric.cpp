// SPDX-License-Identifier: Apache-2.0
#include "network/packet_fabric.h"

#include <fmt/format.h>

#include <limits>

namespace flitwise {
namespace {

constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max() / 2;
const RedRules kNoMarks{false};

}  // namespace

PacketFabric::PacketFabric(const NetworkPlan& plan, const PacketFabricRules& rules,
                           const Random& random, EventQueue& events, FabricPackets& packets)
    : rules_(rules),
      graph_(plan),
      hops_(graph_),
      links_(hops_, rules.detect),
      events_(events),
      packets_(packets),
      marking_(random.split("marks")) {
  ports_.reserve(graph_.ports());
  for (PortId port = 0; port < graph_.ports(); ++port) {
    const NetworkGraph::Port& one = graph_.port(port);
    ports_.emplace_back(one.rate.gbps, graph_.is_host(one.from) ? kNoBound : rules_.room);
  }
  const std::size_t switches = graph_.nodes() - graph_.hosts();
  const auto seeds = switch_seeds(random, switches, rules_.is_polarised);
  for (std::size_t i = 0; i < switches; ++i) {
    choices_.emplace_back(rules_.path, seeds[i], random.split(fmt::format("switch {}", i)));
  }
  if (rules_.path.adaptive.is_on && rules_.path.adaptive.metric == AdaptiveMetric::kUtil) {
    use_.assign(graph_.ports(), PortUtilisation(rules_.util_window));
  }
}

void PacketFabric::send(NodeId host, FabricPackets::Index index, Time now) {
  const PortId port = port_of(host);
  FabricPacket& packet = packets_[index];
  put(port, index,
      ports_[port].output.push(now, packet.bytes, ecn_of(packet.tos), kNoMarks, marking_));
}

FabricPackets::Index PacketFabric::arrive(PortId port, Time now) {
  Port& from = ports_[port];
  const FabricPackets::Index index = from.first;
  from.first = packets_[index].behind;
  if (from.first == FabricPackets::kNone) {
    from.last = FabricPackets::kNone;
    events_.take();
  } else {
    events_.replace(packets_[from.first].due, event_of(NetworkEvent::kArrival, port));
  }
  const NodeId node = graph_.port(port).to;
  if (graph_.is_host(node)) {
    return index;
  }
  packets_[index].came_by = port;
  forward(node, index, now);
  return FabricPackets::kNone;
}

void PacketFabric::forward(NodeId node, FabricPackets::Index index, Time now) {
  FabricPacket& packet = packets_[index];
  if (packet.ttl <= 1) {  // [NW-6]
    lose(index, Loss::kTtl);
    return;
  }
  --packet.ttl;
  const PortSet ways = hops_.candidates(node, packet.destination);
  if (ways.empty()) {
    lose(index, Loss::kNoWay);
    return;
  }
  PathChoice& choice = choices_[node - graph_.hosts()];
  const SwitchView seen{packet.hash, packet.tos, false};
  const PortId port = choice.choose(now, seen, ways, [&](PortId one) {
    return !use_.empty()      ? use_[one].busy(now)
           : rules_.pfc.is_on ? ports_[one].waiting_bytes
                              : ports_[one].output.queued_bytes(now);
  });
  if (!links_.is_up(NetworkGraph::edge_of(port))) {
    ++ports_[port].lost;
    lose(index, Loss::kLinkDown);
    return;
  }
  if (rules_.pfc.is_on) {
    queue(port, index, now);
    return;
  }
  const OutputPort::Pushed pushed =
      ports_[port].output.push(now, packet.bytes, ecn_of(packet.tos), rules_.red, marking_);
  if (!pushed.is_taken()) {
    packets_.free(index);
    return;
  }
  if (pushed.outcome == PortOutcome::kMarked) {
    packet.tos |= kCeBits;
  }
  if (!use_.empty()) {
    use_[port].add(now, pushed.end - pushed.start);
  }
  put(port, index, pushed);
}

void PacketFabric::put(PortId port, FabricPackets::Index index, const OutputPort::Pushed& pushed) {
  Port& to = ports_[port];
  FabricPacket& packet = packets_[index];
  packet.behind = FabricPackets::kNone;
  packet.due = ready_after(pushed, graph_.port(port).rate,
                           rules_.is_cut_through && !graph_.is_host(graph_.port(port).to),
                           packet.bytes, kSwitchedHeaderBytes, to.output.gbps());
  if (to.last == FabricPackets::kNone) {
    to.first = index;
    events_.add(packet.due, event_of(NetworkEvent::kArrival, port));
  } else {
    packets_[to.last].behind = index;
  }
  to.last = index;
}

// ---- ports that may be paused [CC-6]

void PacketFabric::queue(PortId port, FabricPackets::Index index, Time now) {
  Port& to = ports_[port];
  FabricPacket& packet = packets_[index];
  const std::uint64_t queued = to.waiting_bytes + to.leaving_bytes;
  if (queued + packet.bytes > rules_.room) {
    ++to.full;
    packets_.free(index);
    return;
  }
  const RedVerdict verdict = red_verdict(rules_.red, queued, ecn_of(packet.tos), marking_);
  if (verdict == RedVerdict::kDrop) {
    ++to.red;
    packets_.free(index);
    return;
  }
  if (verdict == RedVerdict::kMark) {
    packet.tos |= kCeBits;
    ++to.marked;
  }
  to.waiting_bytes += packet.bytes;
  to.peak = std::max(to.peak, queued + packet.bytes);
  packet.behind = FabricPackets::kNone;
  (to.waiting == FabricPackets::kNone ? to.waiting : packets_[to.waiting_end].behind) = index;
  to.waiting_end = index;
  obey(ports_[packet.came_by].ingress.came(rules_.pfc, packet.bytes), packet.came_by, now);
  serve(port, now);
}

void PacketFabric::serve(PortId port, Time now) {
  Port& from = ports_[port];
  if (from.leaving_bytes > 0 || from.waiting == FabricPackets::kNone || from.paused.is_paused()) {
    return;
  }
  const FabricPackets::Index index = from.waiting;
  FabricPacket& packet = packets_[index];
  from.waiting = packet.behind;
  from.waiting_bytes -= packet.bytes;
  from.leaving_bytes = packet.bytes;
  from.leaving_came_by = packet.came_by;
  const OutputPort::Pushed pushed =
      from.output.push(now, packet.bytes, Ecn::kNotEct, kNoMarks, marking_);
  if (!use_.empty()) {
    use_[port].add(now, pushed.end - pushed.start);
  }
  events_.add(pushed.end, event_of(NetworkEvent::kWireFree, port));
  put(port, index, pushed);
}

void PacketFabric::wire_is_free(PortId port, Time now) {
  Port& from = ports_[port];
  const std::uint32_t bytes = from.leaving_bytes;
  from.leaving_bytes = 0;
  obey(ports_[from.leaving_came_by].ingress.left(rules_.pfc, bytes), from.leaving_came_by, now);
  serve(port, now);
}

// The neighbour hears of it a link later.
void PacketFabric::obey(PfcAction action, PortId port, Time now) {
  if (action != PfcAction::kNone) {
    events_.add(
        now + graph_.port(port).rate.delay,
        event_of(action == PfcAction::kPause ? NetworkEvent::kPause : NetworkEvent::kResume, port));
  }
}

void PacketFabric::resume(PortId port, Time now) {
  ports_[port].paused.resume(now);
  serve(port, now);
}

void PacketFabric::lose(FabricPackets::Index index, Loss loss) {
  ++lost_[static_cast<unsigned>(loss)];
  packets_.free(index);
}

void PacketFabric::set_rate(EdgeId edge, double gbps) {
  ports_[2 * edge].output.set_gbps(gbps);
  ports_[2 * edge + 1].output.set_gbps(gbps);
}

std::uint64_t PacketFabric::dropped() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t one : lost_) {
    sum += one;
  }
  for (const Port& port : ports_) {
    sum += port.output.counters().full + port.output.counters().red + port.full + port.red;
  }
  return sum;
}

std::vector<NetworkPortResult> PacketFabric::ports(const NetworkPlan& plan, Time now) const {
  std::vector<NetworkPortResult> rows;
  for (NodeId node = graph_.hosts(); node < graph_.nodes(); ++node) {
    for (const PortId port : graph_.ports_of(node)) {
      const OutputPort::Counters& sum = ports_[port].output.counters();
      NetworkPortResult row;
      row.name = fmt::format("{}.{}", plan.name_of(node), graph_.place_of(port));
      row.bytes = sum.bytes;
      row.packets = sum.packets;
      const Port& one = ports_[port];
      row.drops = sum.full + sum.red + one.full + one.red + one.lost;
      row.ce = sum.marked + one.marked;
      row.most_queued = rules_.pfc.is_on ? one.peak : sum.peak;
      row.paused = one.paused.paused(now);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace flitwise
