// SPDX-License-Identifier: Apache-2.0
#include "network/packet_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "common/ranges.h"
#include "network/addresses.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max() / 2;
const RedRules kNoMarks{false};

}  // namespace

PacketFabric::PacketFabric(const NetworkPlan& plan, const PacketFabricRules& rules,
                           const Random& random, EventQueue& events, FabricPackets& packets)
    : rules_(rules),
      view_{rules.hash, rules.is_symmetric},
      graph_(plan),
      hops_(graph_),
      links_(hops_, rules.detect),
      events_(events),
      packets_(packets),
      marking_(random.split("marks")),
      chance_(random.split("losses")) {
  ports_.reserve(graph_.ports());
  fastest_.resize(graph_.nodes());
  for (PortId port = 0; port < graph_.ports(); ++port) {
    const NetworkGraph::Port& one = graph_.port(port);
    fastest_[one.from] = std::max(fastest_[one.from], one.rate.gbps);
    ports_.emplace_back(one, graph_.is_host(one.from) ? kNoBound : rules_.room);
  }
  for (NodeId host = 0; host < graph_.hosts(); ++host) {
    host_ports_.push_back(graph_.ports_of(host)[0]);
  }
  const std::size_t switches = graph_.nodes() - graph_.hosts();
  const auto seeds = switch_seeds(random, switches, rules_.is_polarised);
  for (std::size_t i = 0; i < switches; ++i) {
    choices_.emplace_back(rules_.path, seeds[i], random.split(fmt::format("switch {}", i)));
  }
  if (rules_.path.adaptive.is_on && rules_.path.adaptive.metric == AdaptiveMetric::kUtil) {
    use_.assign(graph_.ports(), PortUtilisation(rules_.util_window));
  }
  waits_.resize(rules_.keeps_waits ? graph_.ports() : 0);
}

void PacketFabric::send(NodeId host, FabricPackets::Index index, Time now) {
  const PortId port = port_of(host);
  FabricPacket& packet = packets_[index];
  const OutputPort::Pushed pushed =
      ports_[port].output.push(now, packet.bytes, ecn_of(packet.tos), kNoMarks, marking_);
  if (!links_.is_up(NetworkGraph::edge_of(port))) {
    lose(index, Loss::kLinkDown);
    return;
  }
  put(port, index, pushed);
}

Time PacketFabric::decided_at(NodeId host, Time last, std::uint32_t bytes) const {
  const NetworkGraph::Port& cable = graph_.port(port_of(host));
  const Time end = last - cable.rate.delay;
  const OutputPort::Pushed left = {PortOutcome::kTaken, end - wire_time(bytes, cable.rate.gbps),
                                   end};
  return ready_after(left, cable.rate, rules_.is_cut_through, bytes, kSwitchedHeaderBytes,
                     fastest_[cable.to]);
}

void PacketFabric::enter(NodeId host, FabricPackets::Index index, Time now) {
  const PortId port = port_of(host);
  FabricPacket& packet = packets_[index];
  packet.due = now;
  packet.came_by = port;
  if (!links_.is_up(NetworkGraph::edge_of(port))) {
    lose(index, Loss::kLinkDown);
    return;
  }
  if (!has_lost(port, index)) {
    forward(graph_.port(port).to, index, now);
  }
}

void PacketFabric::fetch_way(PortId port) const {
  if (ports_[port].first == FabricPackets::kNone) {
    return;
  }
  const FabricPacket& packet = packets_[ports_[port].first];
  if (packet.behind != FabricPackets::kNone) {
    packets_.fetch(packet.behind, false);
  }
  const NodeId node = ports_[port].to;
  if (!graph_.is_host(node)) {
    const PortSet ways = hops_.candidates(node, packet.destination);
    const SwitchView seen{packet.hash, packet.tos, false};
    const PathChoice& choice = choices_[node - graph_.hosts()];
    if (!ways.empty() && !choice.is_adaptive(seen)) {
      fetch_port(ways[choice.place_of(seen, ways)]);
    }
  }
}

FabricPackets::Index PacketFabric::arrive(PortId port, Time now) {
  Port& from = ports_[port];
  const FabricPackets::Index index = from.first;
  if (index == FabricPackets::kNone || packets_[index].due != now) {
    events_.take();  // of a rate that has changed
    return FabricPackets::kNone;
  }
  from.first = packets_[index].behind;
  if (from.first == FabricPackets::kNone) {
    from.last = FabricPackets::kNone;
    events_.take();
  } else {
    events_.replace(packets_[from.first].due, event_of(NetworkEvent::kArrival, port));
  }
  if (packets_[index].is_lost) {
    ++from.lost;
    lose(index, Loss::kLinkDown);
    return FabricPackets::kNone;
  }
  const NodeId node = from.to;
  if (graph_.is_host(node)) {
    return index;
  }
  packets_[index].came_by = port;
  forward(node, index, now);
  return FabricPackets::kNone;
}

void PacketFabric::forward(NodeId node, FabricPackets::Index index, Time now) {
  FabricPacket& packet = packets_[index];
  Frame* const frame = packets_.frame(index);
  SwitchView seen{packet.hash, packet.tos, false};
  if (frame != nullptr) {
    const SwitchRead read = pass_switch(frame->bytes, view_);  // [KY-7] [NW-6]
    if (read.outcome != Forwarding::kGoesOn) {
      lose(index, read.outcome == Forwarding::kTtl ? Loss::kTtl : Loss::kBadHeader);
      return;
    }
    seen = read.view;
    packet.tos = seen.tos;
    packet.destination = read.tuple.destination - ipv4_of_port(0);
  } else if (packet.ttl <= 1) {  // [NW-6]
    lose(index, Loss::kTtl);
    return;
  } else {
    --packet.ttl;
  }
  const PortSet ways =
      packet.destination < graph_.hosts() ? hops_.candidates(node, packet.destination) : PortSet();
  if (ways.empty()) {
    lose(index, Loss::kNoWay);
    return;
  }
  PathChoice& choice = choices_[node - graph_.hosts()];
  const PortId port = choice.choose(now, seen, ways, [&](PortId one) {
    return !use_.empty() ? use_[one].busy(now) : queued_bytes(one, now);
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
    mark(index);
  }
  if (!use_.empty()) {
    use_[port].add(now, pushed.end - pushed.start);
  }
  if (!waits_.empty()) {
    waits_[port].add(now, pushed.start);
  }
  put(port, index, pushed);
}

// [CC-1]
void PacketFabric::mark(FabricPackets::Index index) {
  packets_[index].tos |= kCeBits;
  if (Frame* const frame = packets_.frame(index)) {
    mark_ce(frame->bytes);
  }
}

bool PacketFabric::has_lost(PortId port, FabricPackets::Index index) {
  if (NetworkGraph::edge_of(port) != lossy_ || !chance_.chance(loss_)) {
    return false;
  }
  ++ports_[port].lost;
  lose(index, Loss::kChance);
  return true;
}

void PacketFabric::put(PortId port, FabricPackets::Index index, const OutputPort::Pushed& pushed) {
  Port& to = ports_[port];
  FabricPacket& packet = packets_[index];
  if (has_lost(port, index)) {  // its wire was taken
    return;
  }
  packet.behind = FabricPackets::kNone;
  packet.due = due_of(to, pushed, packet.bytes);
  packet.is_lost = false;
  if (Frame* const frame = packets_.frame(index)) {
    frame->last = pushed.end;
  }
  if (to.last == FabricPackets::kNone) {
    to.first = index;
    events_.add(packet.due, event_of(NetworkEvent::kArrival, port));
  } else {
    packets_[to.last].behind = index;
  }
  to.last = index;
}

// When a packet comes to the other end.
Time PacketFabric::due_of(const Port& port, const OutputPort::Pushed& pushed,
                          std::uint32_t bytes) const {
  return port.is_handed_over
             ? pushed.start
             : ready_after(pushed, port.rate, rules_.is_cut_through && !graph_.is_host(port.to),
                           bytes, kSwitchedHeaderBytes, fastest_[port.to]);
}

// ---- links that fail

// When a packet leaves that is on its way by the port: it comes as much later as any of its size.
OutputPort::Pushed PacketFabric::pushed_of(const Port& port, const FabricPacket& packet) const {
  const Time span = wire_time(packet.bytes, port.output.gbps());
  const Time later = due_of(port, {PortOutcome::kTaken, Time{}, span}, packet.bytes);
  return {PortOutcome::kTaken, packet.due - later, packet.due - later + span};
}

void PacketFabric::take_down(EdgeId edge, Time now) {
  links_.take_down(edge, now);
  for (const PortId port : {2 * edge, 2 * edge + 1}) {
    for (auto i = ports_[port].first; i != FabricPackets::kNone; i = packets_[i].behind) {
      packets_[i].is_lost = pushed_of(ports_[port], packets_[i]).end > now;
    }
  }
}

void PacketFabric::bring_up(EdgeId edge, Time now) {
  links_.bring_up(edge, now);
  for (const PortId port : {2 * edge, 2 * edge + 1}) {
    for (auto i = ports_[port].first; i != FabricPackets::kNone; i = packets_[i].behind) {
      packets_[i].is_lost = packets_[i].is_lost && pushed_of(ports_[port], packets_[i]).start < now;
    }
  }
}

void PacketFabric::set_rate(EdgeId edge, double gbps, Time now) {
  change_rate(2 * edge, gbps, now);
  change_rate(2 * edge + 1, gbps, now);
}

// The event of the packet that comes first is where it was: arrive() takes no notice of it.
void PacketFabric::change_rate(PortId port, double gbps, Time now) {
  Port& of = ports_[port];
  if (rules_.pfc.is_on || of.is_handed_over) {
    of.output.set_gbps(gbps, of.output.free_at());
    return;
  }
  const double times = of.output.gbps() / gbps;
  const Time first = of.first == FabricPackets::kNone ? Time::never() : packets_[of.first].due;
  for (auto i = of.first; i != FabricPackets::kNone; i = packets_[i].behind) {
    OutputPort::Pushed pushed = pushed_of(of, packets_[i]);
    if (pushed.end > now) {
      pushed.start = at_other_rate(pushed.start, now, times);
      pushed.end = at_other_rate(pushed.end, now, times);
      packets_[i].due = due_of(of, pushed, packets_[i].bytes);
    }
  }
  of.output.set_gbps(gbps, now);
  if (first != Time::never() && packets_[of.first].due != first) {
    events_.add(packets_[of.first].due, event_of(NetworkEvent::kArrival, port));
  }
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
    mark(index);
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
  if (!waits_.empty()) {
    waits_[port].add(packet.due, pushed.start);  // since it came
  }
  events_.add(pushed.end, event_of(NetworkEvent::kWireFree, port));
  put(port, index, pushed);
  packet.is_lost = !links_.is_up(NetworkGraph::edge_of(port));
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
        now + ports_[port].rate.delay,
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

void PacketFabric::set_loss(EdgeId edge, double share) {
  lossy_ = share > 0 ? edge : NetworkGraph::edge_of(kNoNetworkPort);
  loss_ = share;
}

// Cut through: its bytes pass the slowest edge, and its headers the others.
Time PacketFabric::ideal(NodeId from, NodeId to, const FlowFraming& framing,
                         std::uint64_t bytes) const {
  const std::vector<EdgeRate> way = ideal_way(hops_, from, to);
  if (!rules_.is_cut_through || way.empty()) {
    return ideal_time(way, framing, bytes);
  }
  const auto slowest = std::min_element(
      way.begin(), way.end(), [](const EdgeRate& a, const EdgeRate& b) { return a.gbps < b.gbps; });
  Time time = wire_time(framing.wire_bytes(bytes), slowest->gbps);
  for (auto edge = way.begin(); edge != way.end(); ++edge) {
    time += edge->delay;
    time += edge == slowest ? Time{} : wire_time(kSwitchedHeaderBytes, edge->gbps);
  }
  return time;
}

std::uint64_t PacketFabric::without_room() const {
  return sum_of<std::uint64_t>(
      ports_, [](const Port& port) { return port.output.counters().full + port.full; });
}

std::uint64_t PacketFabric::dropped_early() const {
  return sum_of<std::uint64_t>(
      ports_, [](const Port& port) { return port.output.counters().red + port.red; });
}

std::uint64_t PacketFabric::dropped() const {
  return std::accumulate(lost_.begin(), lost_.end(), without_room() + dropped_early());
}

CountsByKind PacketFabric::drops_by_kind() const {
  CountsByKind all = {
      {"network_queue_full", without_room()},         {"network_early_drop", dropped_early()},
      {"network_bad_header", lost(Loss::kBadHeader)}, {"network_ttl", lost(Loss::kTtl)},
      {"network_no_route", lost(Loss::kNoWay)},       {"network_link_down", lost(Loss::kLinkDown)},
      {"network_lost", lost(Loss::kChance)}};
  for (auto one = all.begin(); one != all.end();) {
    one = one->second == 0 ? all.erase(one) : std::next(one);
  }
  return all;
}

// What is not on its wire yet.
std::uint64_t PacketFabric::queued_bytes(PortId port, Time now) const {
  const Port& one = ports_[port];
  return rules_.pfc.is_on ? one.waiting_bytes : one.output.queued_bytes(now);
}

std::vector<PortId> PacketFabric::switch_ports() const {
  std::vector<PortId> all;
  for (NodeId node = graph_.hosts(); node < graph_.nodes(); ++node) {
    const PortSet ports = graph_.ports_of(node);
    all.insert(all.end(), ports.begin(), ports.end());
  }
  return all;
}

std::string PacketFabric::name_of(PortId port, const NetworkPlan& plan) const {
  return fmt::format("{}.{}", plan.name_of(graph_.port(port).from), graph_.place_of(port));
}

NetworkPortResult PacketFabric::result_of(PortId port, Time now) const {
  const Port& one = ports_[port];
  const OutputPort::Counters& sum = one.output.counters();
  NetworkPortResult row;
  row.bytes = sum.bytes;
  row.packets = sum.packets;
  row.drops = sum.full + sum.red + one.full + one.red + one.lost;
  row.ce = sum.marked + one.marked;
  row.most_queued = rules_.pfc.is_on ? one.peak : sum.peak;
  row.paused = one.paused.paused(now);
  return row;
}

// From now until it is free it works without a pause.
Time PacketFabric::busy(PortId port, Time now) const {
  const OutputPort& output = ports_[port].output;
  return output.counters().busy - std::max(output.free_at() - now, Time{});
}

void PacketFabric::start_window(Time now) {
  for (Port& port : ports_) {
    port.output.start_window(now);
    port.peak = port.waiting_bytes + port.leaving_bytes;
  }
  for (WaitBook& waits : waits_) {
    waits.start_window(now);
  }
}

}  // namespace flitwise
