// SPDX-License-Identifier: Apache-2.0
#include "network/packet_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "network/network_setup.h"
#include "network/session_rows.h"

namespace flitwise {
namespace {

constexpr Time kQuantum = Time::from_us(1);
/// Over the way that takes longest. Presets look the same from each host, a graph need not.
Time longest_round_trip(const PacketNetworkConfig& config, const PacketFabric& fabric) {
  const NodeId hosts = fabric.graph().hosts();
  const NodeId seen_from = config.network.topology == NetworkTopology::kGraph ? hosts : 1;
  Time longest{};
  for (NodeId from = 0; from < seen_from; ++from) {
    for (NodeId to = from + 1; to < hosts; ++to) {
      const auto ideal = [&](const FlowFraming& framing, std::uint64_t bytes) {
        return fabric.ideal(from, to, framing, bytes);
      };
      longest = std::max(longest, base_round_trip(config.srdma, ideal));
    }
  }
  return longest;
}

}  // namespace

PacketNetworkConfig PacketNetworkConfig::of(const Config& config) {
  return {config.network, config.device.srdma, config.workload.flows, config.trace,
          config.run.seed};
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
      rules_(host_rules(config.network, config.srdma, longest_round_trip(config, fabric_))),
      flows_(std::move(flows)),
      ends_(rules_, {plan_.hosts, config.flows.queue_pairs, config.srdma.is_on, config.seed},
            random_),
      ports_(plan_.hosts),
      standing_(config.srdma, plan_.hosts, config.seed, ends_),
      background_(config.network, fabric_.graph(), random_, events_),
      fault_(config.network, plan_, fabric_, events_),
      fetch_(events_, fabric_, packets_, ports_, ends_) {
  wakeup_.wakes("work", [this] { work(); });
  if (config.srdma.is_on && config.srdma.connect != GroupConnect::kStanding) {
    agents_ =
        std::make_unique<NetworkAgents>(config.srdma, plan_.hosts, config.seed, rules_, ends_,
                                        events_, log_, static_cast<NetworkAgents::Owner&>(*this));
  }
  start_capture();
  if (flows_.next_start() != Time::never()) {
    events_.add(flows_.next_start(), event_of(NetworkEvent::kFlow, 0));
    begin_ = flows_.next_start();
  }
  wakeup_.at(Time{});
}

// Hosts that are not chosen have no port there.
void PacketNetwork::start_capture() {
  const auto file = config_.trace.files.find("pcapng");
  if (file == config_.trace.files.end()) {
    return;
  }
  std::vector<NodeId> hosts(config_.trace.hosts.begin(), config_.trace.hosts.end());
  for (NodeId host = 0; config_.trace.hosts.empty() && host < plan_.hosts; ++host) {
    hosts.push_back(host);
  }
  const PacketCapture::Rules rules{config_.srdma.is_on && config_.srdma.is_secured,
                                   config_.srdma.cm_plain};
  capture_ = std::make_unique<PacketCapture>(file->second, rules, hosts);
}

void PacketNetwork::work() {
  wakeup_.taken();
  run_until(flitwise::now() + kQuantum);
  if (capture_ && flows_.is_done()) {
    capture_->flush(now_);
  }
  if (!events_.empty() && !flows_.is_done()) {
    wakeup_.at(events_.next());
  }
}

void PacketNetwork::run_until(Time limit) {
  while (events_.next() <= limit && !flows_.is_done()) {
    now_ = events_.next();
    const EventQueue::What event = events_.front();
    const std::uint32_t where = place_of(event);
    fetch_.ahead();
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
      case NetworkEvent::kSessions: agents_->expire(where, now_); break;
      default: fault_.work(now_); break;
    }
  }
}

// The first end of the queue pairs at the source.
std::uint32_t PacketNetwork::connect(NodeId source, NodeId destination) {
  const std::uint32_t known = ends_.find(source, destination);
  if (known != NetworkEnds::kNone) {
    return known;
  }
  const std::uint32_t first = ends_.add(source, destination);
  for (std::uint32_t end = first; end < ends_.size(); ++end) {
    ports_[ends_[end].connection->ends().own].add_end();
  }
  if (agents_) {
    agents_->add(first);
    return first;
  }
  for (std::uint32_t end = first; end < ends_.size(); end += 2) {
    if (ends_[end].connection->is_first()) {
      standing_.open(end, now_);
    }
  }
  return first;
}

// ---- packets

void PacketNetwork::arrive(PortId port) {
  const FabricPackets::Index index = fabric_.arrive(port, now_);
  if (index == FabricPackets::kNone) {
    return;
  }
  FabricPacket& packet = packets_[index];
  ++received_;
  if (capture_) {
    capture_->arrives(index, packet, message_of(index), now_);
  }
  switch (packet.kind) {
    case FabricPacket::Kind::kPlainUdp: break;
    case FabricPacket::Kind::kControl: agents_->receive(index, packet, now_); break;
    default: receive(packet); break;
  }
  packets_.free(index);
}

void PacketNetwork::receive(FabricPacket& packet) {
  packet.fields.is_marked = ecn_of(packet.tos) == Ecn::kCe;
  const std::uint32_t number = packet.fields.queue_pair - 1;
  if (number >= ends_.size() || ends_[number].connection->ends().own != packet.destination) {
    ++unknown_;
    return;
  }
  if (agents_ && !agents_->admits(packet, now_)) {
    return;
  }
  HostConnection& connection = *ends_[number].connection;
  const std::uint64_t bytes = connection.bytes_delivered();
  connection.receive(packet, now_);
  bytes_ += connection.bytes_delivered() - bytes;
  after(number);
}

const CmMessage* PacketNetwork::message_of(FabricPackets::Index index) const {
  return packets_[index].kind == FabricPacket::Kind::kControl ? &agents_->message_at(index)
                                                              : nullptr;
}

// ---- whose turn it is

// Something has happened to an end: flows that are complete, and what it does next.
void PacketNetwork::after(std::uint32_t number) {
  HostConnection& connection = *ends_[number].connection;
  Flow flow;
  while (connection.take_complete(flow)) {
    if (flows_.is_whole(flow)) {
      flows_.over(flow, now_ - flow.start, ideal(flow));
    }
    if (flows_.next_start() <= now_) {
      events_.add(now_, event_of(NetworkEvent::kFlow, 0));
    }
  }
  offer(number);
  offer_others(connection.first(), number);
  arm(number, connection.due());
  if (agents_) {
    agents_->close_drained(number, now_);
  }
}

// What one queue pair of a group hears may let others go on: those that had to wait.
void PacketNetwork::offer_others(const HostConnection& first, std::uint32_t number) {
  std::vector<std::uint32_t>& waiting = ends_[first.ends().number - 1].waiting;
  if (waiting.empty()) {
    return;
  }
  offered_.swap(waiting);
  std::sort(offered_.begin(), offered_.end());
  for (const std::uint32_t end : offered_) {
    ends_[end].is_waiting = false;
    if (end != number && ends_[end].connection->may_go_on()) {
      offer(end);
    }
  }
  offered_.clear();
}

void PacketNetwork::note_waiting(std::uint32_t number) {
  NetworkEnd& end = ends_[number];
  const HostConnection& first = end.connection->first();
  if (!end.is_waiting && !first.others().empty() && end.connection->has_to_wait()) {
    end.is_waiting = true;
    ends_[first.ends().number - 1].waiting.push_back(number);
  }
}

// The end may have something to send.
void PacketNetwork::offer(std::uint32_t number) {
  NetworkEnd& end = ends_[number];
  if (end.has_turn) {
    return;
  }
  end.has_turn = true;
  const NodeId host = end.connection->ends().own;
  HostSender& port = ports_[host];
  port.turns.push_back(number);
  wake(host);
}

// It sends once its wire is free, unless it is paused: what keeps it still is its neighbour then.
void PacketNetwork::wake(NodeId host) {
  HostSender& port = ports_[host];
  if (fabric_.is_paused(host)) {
    port.go_on(now_);
  } else if (!port.is_due) {
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
  HostSender& port = ports_[host];
  port.is_due = false;
  if (fabric_.is_paused(host)) {
    return;
  }
  const FabricPackets::Index index = packets_.make();
  FabricPacket& packet = packets_[index];
  const bool is_background = background_.waits(host);  // [NW-7]
  if (is_background) {
    background_.take(host, packet);
  }
  if (is_background || (agents_ && agents_->next(host, index, packet))) {
    put_on_wire(host, index);
    wake(host);
    return;
  }
  while (!port.turns.empty()) {
    const std::uint32_t number = port.turns.front();
    port.turns.pop_front();
    NetworkEnd& end = ends_[number];
    HostConnection& connection = *end.connection;
    const bool has_packet = connection.next(packet, now_);
    port.note_held(std::exchange(end.held, connection.held()), connection.held());
    if (has_packet) {
      port.turns.push_back(number);
      put_on_wire(host, index);
      arm(number, connection.due());
      wake(host);
      return;
    }
    end.has_turn = false;
    note_waiting(number);
    arm(number, std::min(connection.due(), connection.may_go()));
  }
  packets_.free(index);
  port.stand_still(now_);
}

void PacketNetwork::put_on_wire(NodeId host, FabricPackets::Index index) {
  ++sent_;
  ports_[host].go_on(now_);
  fabric_.send(host, index, now_);
  if (capture_) {
    capture_->leaves(host, index, packets_[index], message_of(index), fabric_.free_at(host), now_);
  }
}

// ---- timers

void PacketNetwork::arm(std::uint32_t number, Time when) {
  NetworkEnd& end = ends_[number];
  const Time then = std::max(when, now_);
  if (when != Time::never() && then < end.armed) {
    end.armed = then;
    events_.add(then, event_of(NetworkEvent::kTimer, number));
  }
}

void PacketNetwork::expire(std::uint32_t number) {
  NetworkEnd& end = ends_[number];
  if (end.armed > now_) {
    return;  // of a time that was put off
  }
  end.armed = Time::never();
  if (end.connection->due() <= now_) {
    const ControlDecision decision = end.connection->expire(now_);
    agents_ ? agents_->obey(number, decision, now_) : standing_.obey(number, decision, now_);
  }
  offer(number);
  offer_others(end.connection->first(), number);
  arm(number, end.connection->due());
  if (agents_) {
    agents_->close_drained(number, now_);
  }
}

// ---- flows

void PacketNetwork::start_flow() {
  while (flows_.next_start() <= now_) {
    const Flow flow = flows_.start(now_);
    const std::uint32_t number = connect(flow.source, flow.destination);
    if (!agents_ || agents_->has_group(number, flow, now_)) {
      post(number, flow);
    }
  }
  if (flows_.next_start() != Time::never()) {
    events_.add(flows_.next_start(), event_of(NetworkEvent::kFlow, 0));
  }
}

// By the queue pairs of the two hosts in turn; first: the end of the first of them.
void PacketNetwork::post(std::uint32_t first, const Flow& flow) {
  const auto parts =
      static_cast<unsigned>(std::min<std::uint64_t>(config_.flows.parts, flow.bytes));
  flows_.split(flow, parts);
  Flow part = flow;
  for (unsigned i = 0; i < parts; ++i) {
    part.bytes = flow.bytes * (i + 1) / parts - flow.bytes * i / parts;
    const std::uint32_t number = first + 2 * (ends_[first].flows++ % config_.flows.queue_pairs);
    ends_[ends_[number].peer].connection->expect(part);
    ends_[number].connection->post(part);
    after(number);
  }
}

Time PacketNetwork::ideal(const Flow& flow) const {
  return fabric_.ideal(flow.source, flow.destination,
                       flow_framing(rules_.pair.mtu, rules_.extra_bytes > 0,
                                    rules_.pair.mode == ReceiveMode::kDirect),
                       flow.bytes);
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
  for (const NetworkEnd& end : ends_) {
    text += end.connection->waiting();
  }
  return text;
}

void PacketNetwork::report(RunResult& result) const {
  result.routes.push_back(route());
  for (const PortId port : fabric_.switch_ports()) {
    NetworkPortResult row = fabric_.result_of(port, now_);
    row.name = fabric_.name_of(port, plan_);
    row.to = plan_.name_of(fabric_.graph().port(port).to);
    result.rows<NetworkPortResult>().push_back(std::move(row));
  }
  result.rows<NetworkFlowResult>() = flows_.flows();
  result.rows<FlowTimesRow>() = flows_.times();
  result.rows<SrdmaSessionResult>() = session_rows(ends_, agents_.get());
  result.rows<SessionEventRow>() = log_.rows();
}

Component::Counts PacketNetwork::errors() const {
  Counts counts = fabric_.drops_by_kind();
  const auto add = [&counts](const std::string& kind, std::uint64_t count) {
    if (count > 0) {
      counts[kind] += count;
    }
  };
  add("rx_qp_mismatch", unknown_);
  for (NodeId host = 0; agents_ && host < agents_->hosts(); ++host) {
    const SessionAgent& agent = agents_->agent(host);
    for (const ReceiveCounter counter :
         {ReceiveCounter::kUnknownTuple, ReceiveCounter::kSessionState, ReceiveCounter::kBadKey,
          ReceiveCounter::kQpMismatch}) {
      add(name_of(counter), agent.count(counter));
    }
    add("cm_resent", agent.counts().resent);
    add("cm_failed", agent.counts().failed);
  }
  for (const NetworkEnd& end : ends_) {
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
  for (const NetworkEnd& end : ends_) {
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
