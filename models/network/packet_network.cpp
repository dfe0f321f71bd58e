// SPDX-License-Identifier: Apache-2.0
#include "network/packet_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "network/network_setup.h"
#include "network/srdma_result.h"

namespace flitwise {
namespace {

constexpr Time kQuantum = Time::from_us(1);
constexpr std::uint32_t kNone = ~0U;
constexpr std::uint32_t kPacketBytes = 82;  // of a packet beside its payload [ROCE-1]
constexpr std::uint32_t kAckBytes = 98;     // of an ACK with its echo

/// Round trip of a full packet and its ACK over the way that takes longest.
Time base_round_trip(const PacketNetworkConfig& config, const NextHops& hops) {
  const std::uint32_t more = config.srdma.is_on && config.srdma.is_secured ? kSecuredBytes : 0;
  Time longest{};
  for (NodeId host = 1; host < hops.graph().hosts(); ++host) {
    Time way{};
    for (const EdgeRate& edge : ideal_way(hops, 0, host)) {
      way += edge.delay + edge.delay +
             wire_time(config.srdma.mtu + kPacketBytes + more, edge.gbps) +
             wire_time(kAckBytes + more, edge.gbps);
    }
    longest = std::max(longest, way);
  }
  return longest;
}

}  // namespace

PacketNetworkConfig PacketNetworkConfig::of(const Config& config) {
  return {config.network, config.device.srdma, config.run.seed};
}

PacketNetwork::PacketNetwork(const sc_core::sc_module_name& name, const PacketNetworkConfig& config,
                             std::unique_ptr<FlowSource> flows)
    : ComponentModule(name),
      config_(config),
      random_(config.seed),
      plan_(network_plan(config.network)),
      wakeup_("wakeup", Time::from_ps(1)),
      fabric_(plan_,
              fabric_rules(config.network, plan_, config.srdma.adaptive_routing, config.srdma.mtu),
              random_.split("ecmp"), events_, packets_),
      rules_(host_rules(config.network, config.srdma, base_round_trip(config, fabric_.hops()))),
      flows_(std::move(flows)),
      ports_(plan_.hosts),
      end_of_(std::size_t{plan_.hosts} * plan_.hosts, kNone),
      pairs_(plan_.hosts),
      background_(config.network, fabric_.graph(), random_, events_),
      fault_(config.network, plan_, fabric_, events_) {
  wakeup_.wakes("work", [this] { work(); });
  if (flows_.next_start() != Time::never()) {
    events_.add(flows_.next_start(), event_of(NetworkEvent::kFlow, 0));
  }
  wakeup_.at(Time{});
}

void PacketNetwork::work() {
  wakeup_.taken();
  run_until(flitwise::now() + kQuantum);
  if (!events_.empty() && !flows_.is_done()) {
    wakeup_.at(events_.next());
  }
}

void PacketNetwork::run_until(Time limit) {
  while (events_.next() <= limit && !flows_.is_done()) {
    now_ = events_.next();
    const EventQueue::What event = events_.front();
    const std::uint32_t where = place_of(event);
    fetch_ahead();
    if (kind_of(event) == NetworkEvent::kArrival) {
      arrive(where);
      continue;
    }
    events_.take();
    switch (kind_of(event)) {
      case NetworkEvent::kWireFree: fabric_.wire_is_free(where, now_); break;
      case NetworkEvent::kPause: fabric_.pause(where, now_); break;
      case NetworkEvent::kResume: resume(where); break;
      case NetworkEvent::kSend: send(where); break;
      case NetworkEvent::kTimer: expire(where); break;
      case NetworkEvent::kFlow: start_flow(); break;
      case NetworkEvent::kBackground:
        background_.come(where);
        wake(where);
        break;
      default: fault_.work(now_); break;
    }
  }
}

// What an event touches lies behind something else that it touches: one thing after the other is
// fetched, each an event later. Further ahead some of it would be gone again before it is used.
// Where few events wait all of it is in the cache.
void PacketNetwork::fetch_ahead() {
  constexpr std::size_t kFew = 512;
  if (events_.size() < kFew) {
    return;
  }
  for (unsigned steps = 6; steps > 0; --steps) {
    if (const EventQueue::What* const event = events_.behind(steps)) {
      const std::uint32_t where = place_of(*event);
      switch (kind_of(*event)) {
        case NetworkEvent::kArrival: fetch_for_arrival(steps, where); break;
        case NetworkEvent::kSend: fetch_for_send(steps, where); break;
        default: break;
      }
    }
  }
}

void PacketNetwork::fetch_for_arrival(unsigned steps, PortId port) {
  if (steps == 6) {
    fabric_.fetch_port(port);
    return;
  }
  if (steps == 5) {
    fabric_.fetch_packet(port);
    return;
  }
  if (steps == 4) {
    fabric_.fetch_way(port);
  }
  const FabricPackets::Index index = fabric_.coming_by(port);
  if (index == FabricPackets::kNone) {
    return;
  }
  const RdmaPacket& packet = packets_[index].fields;
  const std::uint32_t number = packet.queue_pair - 1;
  if (number >= ends_.size()) {
    return;
  }
  const End& end = ends_[number];
  steps == 4   ? fetch(&end)
  : steps == 3 ? end.connection->fetch()
  : steps == 2 ? end.connection->fetch_rows(packet)
               : end.connection->fetch_session(packet);
}

void PacketNetwork::fetch_for_send(unsigned steps, NodeId host) {
  const Port& port = ports_[host];
  if (steps == 6) {
    fetch(&port);
  } else if (!port.turns.empty()) {
    if (steps == 5) {
      fetch(&port.turns.front());
      return;
    }
    const End& end = ends_[port.turns.front()];
    steps == 4   ? fetch(&end)
    : steps == 3 ? end.connection->fetch()
    : steps == 2 ? end.connection->fetch_next_rows()
                 : end.connection->fetch_next_session();
  }
}

// ---- packets

void PacketNetwork::arrive(PortId port) {
  const FabricPackets::Index index = fabric_.arrive(port, now_);
  if (index == FabricPackets::kNone) {
    return;
  }
  FabricPacket& packet = packets_[index];
  ++received_;
  if (packet.kind == FabricPacket::Kind::kPlainUdp) {
    packets_.free(index);
    return;
  }
  packet.fields.is_marked = ecn_of(packet.tos) == Ecn::kCe;
  const std::uint32_t number = packet.fields.queue_pair - 1;
  if (number >= ends_.size() || ends_[number].connection->ends().own != packet.destination) {
    ++unknown_;
  } else {
    HostConnection& connection = *ends_[number].connection;
    const std::uint64_t bytes = connection.bytes_delivered();
    connection.receive(packet, now_);
    bytes_ += connection.bytes_delivered() - bytes;
    after(number);
  }
  packets_.free(index);
}

// Something has happened to an end: flows that are complete, and what it does next.
void PacketNetwork::after(std::uint32_t number) {
  HostConnection& connection = *ends_[number].connection;
  Flow flow;
  while (connection.take_complete(flow)) {
    flows_.over(flow, now_ - flow.start, ideal(flow));
    if (flows_.next_start() <= now_) {
      events_.add(now_, event_of(NetworkEvent::kFlow, 0));
    }
  }
  offer(number);
  arm(number, connection.due());
}

// The end may have something to send.
void PacketNetwork::offer(std::uint32_t number) {
  End& end = ends_[number];
  if (end.has_turn) {
    return;
  }
  end.has_turn = true;
  const NodeId host = end.connection->ends().own;
  Port& port = ports_[host];
  port.turns.push_back(number);
  wake(host);
}

// It sends once its wire is free, unless it is paused.
void PacketNetwork::wake(NodeId host) {
  Port& port = ports_[host];
  if (!port.is_due && !fabric_.is_paused(host)) {
    port.is_due = true;
    events_.add(std::max(now_, fabric_.free_at(host)), event_of(NetworkEvent::kSend, host));
  }
}

// [CC-6]
void PacketNetwork::resume(PortId port) {
  fabric_.resume(port, now_);
  const NodeId node = fabric_.graph().port(port).from;
  if (fabric_.graph().is_host(node)) {
    wake(node);
  }
}

// One packet of the first that has one; it goes behind the others then.
void PacketNetwork::send(NodeId host) {
  Port& port = ports_[host];
  port.is_due = false;
  if (fabric_.is_paused(host)) {
    return;
  }
  const FabricPackets::Index index = packets_.make();
  FabricPacket& packet = packets_[index];
  if (background_.waits(host)) {  // [NW-7]
    background_.take(host, packet);
    ++sent_;
    fabric_.send(host, index, now_);
    wake(host);
    return;
  }
  while (!port.turns.empty()) {
    const std::uint32_t number = port.turns.front();
    port.turns.pop_front();
    End& end = ends_[number];
    HostConnection& connection = *end.connection;
    if (connection.next(packet, now_)) {
      port.turns.push_back(number);
      ++sent_;
      fabric_.send(host, index, now_);
      arm(number, connection.due());
      wake(host);
      return;
    }
    end.has_turn = false;
    arm(number, std::min(connection.due(), connection.may_go()));
  }
  packets_.free(index);
}

// ---- timers

void PacketNetwork::arm(std::uint32_t number, Time when) {
  End& end = ends_[number];
  const Time then = std::max(when, now_);
  if (when != Time::never() && then < end.armed) {
    end.armed = then;
    events_.add(then, event_of(NetworkEvent::kTimer, number));
  }
}

void PacketNetwork::expire(std::uint32_t number) {
  End& end = ends_[number];
  if (end.armed > now_) {
    return;  // of a time that was put off
  }
  end.armed = Time::never();
  if (end.connection->due() <= now_) {
    obey(number, end.connection->expire(now_));
  }
  offer(number);
  arm(number, end.connection->due());
}

// Sessions come and go at both ends at once: their handshake takes no time here.
void PacketNetwork::obey(std::uint32_t number, const ControlDecision& decision) {
  End& end = ends_[number];
  End& peer = ends_[end.peer];
  for (std::size_t i = 0; i < end.draining.size();) {
    if (end.connection->close_if_empty(end.draining[i]) &&
        peer.connection->close_if_empty(end.draining[i])) {
      end.draining.erase(end.draining.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (decision.action == ControlDecision::Action::kAdd) {
    end.connection->balancer().begin_add(now_);
    add_sessions(number, 1);
    end.connection->balancer().end_add(now_, true);
  } else if (decision.action == ControlDecision::Action::kRemove) {
    const SessionId id = end.connection->balancer().session(decision.victim).id;
    end.connection->drain_session(id);
    peer.connection->drain_session(id);
    end.draining.push_back(id);
  }
}

// ---- flows

std::uint32_t PacketNetwork::connect(NodeId source, NodeId destination) {
  std::uint32_t& known = end_of_[std::size_t{source} * plan_.hosts + destination];
  if (known != kNone) {
    return known;
  }
  const auto first = static_cast<std::uint32_t>(ends_.size());
  Random random = random_.split(fmt::format("connection {} {}", source, destination));
  const auto psn = static_cast<Psn>(random.below(kPsnMask + 1U));
  const auto peer_psn = static_cast<Psn>(random.below(kPsnMask + 1U));
  HostConnection::Ends own{source, destination, first + 1, first + 2, psn, peer_psn};
  HostConnection::Ends other{destination, source, first + 2, first + 1, peer_psn, psn};
  KeyedStream salts(config_.seed, fmt::format("hrw/{}", first));
  const auto add = [&](const HostConnection::Ends& ends, const char* stream, std::uint32_t peer) {
    End& end = ends_.emplace_back();
    end.connection = std::make_unique<HostConnection>(
        rules_, memory_, ends, SipKey{salts.next(), salts.next()}, random.split(stream));
    end.peer = peer;
    Port& port = ports_[ends.own];
    port.turns.set_capacity(port.turns.capacity() + 1);
  };
  add(own, "own", first + 1);
  add(other, "peer", first);
  next_session_.push_back(0);
  end_of_[std::size_t{source} * plan_.hosts + destination] = first;
  end_of_[std::size_t{destination} * plan_.hosts + source] = first + 1;
  add_sessions(first, config_.srdma.is_on ? config_.srdma.sessions : 1);
  return first;
}

// [SG-3]
void PacketNetwork::add_sessions(std::uint32_t number, unsigned count) {
  End& end = ends_[number];
  const HostConnection::Ends& ends = end.connection->ends();
  std::unique_ptr<PortPairs>& pairs = pairs_[ends.own];
  if (!pairs) {
    PortRules rules;
    rules.source = rules.destination = {static_cast<std::uint16_t>(config_.srdma.first_port),
                                        static_cast<std::uint16_t>(config_.srdma.last_port)};
    pairs = std::make_unique<PortPairs>(
        rules, KeyedStream(config_.seed, fmt::format("port/{}", ends.own)));
  }
  for (unsigned i = 0; i < count; ++i) {
    const auto drawn = pairs->draw({address_of_host(ends.own), address_of_host(ends.peer)}, now_);
    if (!drawn) {
      return;
    }
    SessionTuple tuple = *drawn;
    if (!config_.srdma.is_on) {
      tuple.destination_port = 4791;  // [CC-9]
    }
    const SessionId id = next_session_[number / 2]++;
    end.connection->add_session(id, tuple, now_);
    ends_[end.peer].connection->add_session(id, tuple.reverse(), now_);
  }
}

void PacketNetwork::start_flow() {
  while (flows_.next_start() <= now_) {
    const Flow flow = flows_.start(now_);
    const std::uint32_t number = connect(flow.source, flow.destination);
    ends_[ends_[number].peer].connection->expect(flow);
    ends_[number].connection->post(flow);
    after(number);
  }
  if (flows_.next_start() != Time::never()) {
    events_.add(flows_.next_start(), event_of(NetworkEvent::kFlow, 0));
  }
}

Time PacketNetwork::ideal(const Flow& flow) const {
  FlowFraming framing;
  framing.mtu = rules_.pair.mtu;
  framing.overhead = rules_.carrier.packet_bytes - rules_.pair.mtu;
  // Where it goes stands in the first packet, or in each. [RX-2]
  (rules_.pair.mode == ReceiveMode::kDirect ? framing.overhead : framing.first) += kRethBytes;
  return fabric_.ideal(flow.source, flow.destination, framing, flow.bytes);
}

// ---- what is told of it

void PacketNetwork::add_progress(Progress& sum) const {
  sum.requests += flows_.total();
  sum.requests_over += flows_.finished();
  sum.completed += bytes_;
}

Time PacketNetwork::waits_until() const {
  const Time next = flows_.next_start();
  return next == Time::never() ? Time{} : next;
}

std::string PacketNetwork::waiting() const {
  std::string text;
  for (const End& end : ends_) {
    text += end.connection->waiting();
  }
  return text;
}

std::vector<SrdmaSessionResult> PacketNetwork::sessions() const {
  std::vector<SrdmaSessionResult> rows;
  for (std::size_t number = 0; number < ends_.size(); ++number) {
    const SessionBalancer& balancer = ends_[number].connection->balancer();
    for (SessionIndex index = 0; index < balancer.sessions(); ++index) {
      if (balancer.stats(index).sent_packets > 0) {
        rows.push_back(session_result(fmt::format("h{}", ends_[number].connection->ends().own),
                                      static_cast<std::uint32_t>(number), balancer, index));
      }
    }
  }
  return rows;
}

void PacketNetwork::report(RunResult& result) const {
  for (const PortId port : fabric_.switch_ports()) {
    NetworkPortResult row = fabric_.result_of(port, now_);
    row.name = fabric_.name_of(port, plan_);
    result.rows<NetworkPortResult>().push_back(std::move(row));
  }
  result.rows<NetworkFlowResult>() = flows_.flows();
  result.rows<FlowTimesRow>() = flows_.times();
  result.rows<SrdmaSessionResult>() = sessions();
}

Component::Counts PacketNetwork::errors() const {
  Counts counts;
  const auto add = [&counts](const std::string& kind, std::uint64_t count) {
    if (count > 0) {
      counts[kind] += count;
    }
  };
  add("network_ttl", fabric_.lost(PacketFabric::Loss::kTtl));
  add("network_no_way", fabric_.lost(PacketFabric::Loss::kNoWay));
  add("network_link_down", fabric_.lost(PacketFabric::Loss::kLinkDown));
  add("network_lost", fabric_.lost(PacketFabric::Loss::kChance));
  add("rx_qp_mismatch", unknown_);
  for (const End& end : ends_) {
    const QueuePair& pair = end.connection->pair();
    for (const QpCounter counter : {QpCounter::kSequenceNaks, QpCounter::kTimeOut,
                                    QpCounter::kResent, QpCounter::kOverflow}) {
      add(name_of(counter), pair.count(counter));
    }
  }
  return counts;
}

std::vector<CheckResult> PacketNetwork::checks() const {
  std::uint64_t disorder = 0, failed = 0;
  for (const End& end : ends_) {
    disorder += end.connection->out_of_order();
    failed += end.connection->has_failed() ? 1 : 0;
  }
  const std::uint64_t gone = received_ + fabric_.dropped() + packets_.in_use();
  return {{"bytes of each queue pair arrive once and in order",
           disorder == 0 || rules_.pair.mode == ReceiveMode::kDirect,
           fmt::format("{} bytes out of order", disorder)},
          {"packets sent = received + dropped + on their way", sent_ == gone,
           fmt::format("{} sent, {} received, {} dropped, {} on their way", sent_, received_,
                       fabric_.dropped(), packets_.in_use())},
          {"no queue pair has given up", failed == 0, fmt::format("{} have", failed)}};
}

std::vector<CheckResult> PacketNetwork::checks_at_rest() const {
  return {{"flows that have started are over", flows_.is_done(),
           fmt::format("{} of {}", flows_.finished(), flows_.total())}};
}

}  // namespace flitwise
