// SPDX-License-Identifier: Apache-2.0
// The verbs of switches, a row each.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/printable.h"
#include "common/ranges.h"
#include "network/channel_cycles.h"
#include "network/ipv4_header.h"
#include "script/network_script.h"

namespace flitwise {

/// What the verbs do.
struct NetworkActions {
  static constexpr std::uint64_t kMostPackets = 20'000;  // of one line
  using Walk = NetworkScript::Walk;
  using Network = NetworkScript::Network;

  static Network& own(NetworkScript& script) { return *script.network_; }
  static void tell(NetworkScript& script, const Json& event) { script.sink_(event); }
  static void refuse(NetworkScript& script, const NetworkLine& line, const std::string& detail) {
    tell(script, {{"event", "error"},
                  {"kind", "network_refused"},
                  {"detail", fmt::format("{}: {}", line.verb->name, detail)}});
  }
  static std::string text_of(const NetworkPlan& plan, const std::vector<NodeId>& nodes) {
    std::string text;
    for (const NodeId node : nodes) {
      text += (text.empty() ? "" : " ") + plan.name_of(node);
    }
    return text;
  }

  static void set_up(NetworkScript& script, const NetworkLine& line);
  /// The two ends of the packet have to be hosts.
  template <void (*apply)(NetworkScript&, const NetworkLine&, NodeId from, NodeId to)>
  static void between_hosts(NetworkScript& script, const NetworkLine& line) {
    const NetworkPlan& plan = own(script).setup.plan;
    const auto from = plan.find(line.packet.from), to = plan.find(line.packet.to);
    if (!from || !to || !plan.is_host(*from) || !plan.is_host(*to) || *from == *to) {
      refuse(script, line,
             fmt::format("from {} to {} seen; expected two hosts, h0 to h{}",
                         printable(line.packet.from), printable(line.packet.to), plan.hosts - 1));
    } else {
      apply(script, line, *from, *to);
    }
  }
  /// The nodes have to be joined by an edge; `port` is that of the first one.
  template <void (*apply)(NetworkScript&, const NetworkLine&, PortId port)>
  static void of_port(NetworkScript& script, const NetworkLine& line) {
    const NetworkPlan& plan = own(script).setup.plan;
    const auto from = plan.find(line.from), to = plan.find(line.to);
    const auto edge = from && to ? plan.edge_between(*from, *to) : std::nullopt;
    if (!edge) {
      refuse(script, line,
             fmt::format("no edge joins {} and {}", printable(line.from), printable(line.to)));
    } else {
      apply(script, line, 2 * *edge + (plan.edges[*edge].from == *from ? 0 : 1));
    }
  }
  static Walk walk(NetworkScript& script, const NetworkPacket& packet, NodeId from, NodeId to) {
    return script.walk(packet, from, to);
  }
};

namespace {

// What PFC does not fit at one of the switches.
std::string pfc_flaw(const NetworkScriptSetup& setup, const NetworkGraph& graph) {
  constexpr std::uint32_t kMtu = 4096;
  for (NodeId node = graph.hosts(); setup.has_pfc && node < graph.nodes(); ++node) {
    const PortSet ports = graph.ports_of(node);
    const EdgeRate edge = graph.port(ports[0]).rate;
    const std::string flaw = complaint_about(pfc_of(setup.queue, ports.size(), kMtu), setup.queue,
                                             ports.size(), kMtu, edge);
    if (!flaw.empty()) {
      return setup.plan.name_of(node) + ": " + flaw;
    }
  }
  return {};
}

}  // namespace

// [NW-9] [CC-6]
void NetworkActions::set_up(NetworkScript& script, const NetworkLine& line) {
  auto network = std::make_unique<Network>(line.setup);
  const std::string cycle =
      text_of_cycle(line.setup.plan, network->graph, find_channel_cycle(network->hops));
  if (!cycle.empty() && (line.setup.has_pfc || !line.setup.allows_cycles)) {
    refuse(script, line,
           fmt::format("{} wait for each other in a circle; expected none{}", cycle,
                       line.setup.has_pfc ? " with pfc" : ", or allow_cycles"));
    return;
  }
  if (const std::string flaw = pfc_flaw(line.setup, network->graph); !flaw.empty()) {
    refuse(script, line, flaw);
    return;
  }
  script.network_ = std::move(network);
  tell(script, {{"event", "network_ready"},
                {"hosts", line.setup.plan.hosts},
                {"switches", line.setup.plan.switches.size()},
                {"edges", line.setup.plan.edges.size()},
                {"cycle", cycle.empty() ? "none" : cycle}});
}

namespace {

void send_packet(NetworkScript& script, const NetworkLine& line, NodeId from, NodeId to) {
  const auto walk = NetworkActions::walk(script, line.packet, from, to);
  const std::uint8_t* const ip = &walk.frame[kIpv4At];
  NetworkActions::tell(
      script, {{"event", "network_packet"},
               {"outcome", name_of(walk.outcome)},
               {"way", NetworkActions::text_of(NetworkActions::own(script).setup.plan, walk.nodes)},
               {"ttl", ip[kIpv4TtlAt]},
               {"ce", ecn_of(ip[kIpv4TosAt]) == Ecn::kCe},
               {"checksum", has_good_ipv4(walk.frame) ? "good" : "wrong"}});
}

// The same packet so often: how often by each way.
void send_packets(NetworkScript& script, const NetworkLine& line, NodeId from, NodeId to) {
  if (line.numbers[0] == 0 || line.numbers[0] > NetworkActions::kMostPackets) {
    NetworkActions::refuse(script, line,
                           fmt::format("{} packets seen; expected 1 to {}", line.numbers[0],
                                       NetworkActions::kMostPackets));
    return;
  }
  std::map<std::vector<NodeId>, std::uint64_t> ways;
  std::uint64_t delivered = 0;
  for (std::uint64_t i = 0; i < line.numbers[0]; ++i) {
    const auto walk = NetworkActions::walk(script, line.packet, from, to);
    ++ways[walk.nodes];
    delivered += walk.outcome == NetworkOutcome::kDelivered ? 1 : 0;
  }
  const auto [least, most] = std::minmax_element(
      ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  NetworkActions::tell(script, {{"event", "network_spread"},
                                {"packets", line.numbers[0]},
                                {"delivered", delivered},
                                {"ways", ways.size()},
                                {"least", least->second},
                                {"most", most->second}});
}

// So many sessions, each with ports of its own, in so many rounds: ways that they use, of all
// rounds.
void send_sessions(NetworkScript& script, const NetworkLine& line, NodeId from, NodeId to) {
  const std::uint64_t sessions = line.numbers[0], rounds = line.numbers[1];
  if (sessions == 0 || rounds == 0 || sessions * rounds > NetworkActions::kMostPackets) {
    NetworkActions::refuse(script, line,
                           fmt::format("{} sessions in {} rounds seen; expected 1 to {} packets",
                                       sessions, rounds, NetworkActions::kMostPackets));
    return;
  }
  NetworkPacket packet = line.packet;
  Random& ports = NetworkActions::own(script).ports;
  const auto draw = [&ports] { return static_cast<std::uint16_t>(49152 + ports.below(16384)); };
  std::uint64_t ways = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::set<std::vector<NodeId>> seen;
    for (std::uint64_t i = 0; i < sessions; ++i) {
      packet.source_port = draw();
      packet.destination_port = draw();
      seen.insert(NetworkActions::walk(script, packet, from, to).nodes);
    }
    ways += seen.size();
  }
  NetworkActions::tell(
      script,
      {{"event", "network_sessions"}, {"sessions", sessions}, {"rounds", rounds}, {"ways", ways}});
}

void set_queue(NetworkScript& script, const NetworkLine& line, PortId port) {
  NetworkActions::own(script).queued[port] = line.numbers[0];
}

void take_down(NetworkScript& script, const NetworkLine& /*line*/, PortId port) {
  auto& net = NetworkActions::own(script);
  net.links.take_down(NetworkGraph::edge_of(port), net.now);
  net.links.detect(net.now);
}

void bring_up(NetworkScript& script, const NetworkLine& /*line*/, PortId port) {
  auto& net = NetworkActions::own(script);
  net.links.bring_up(NetworkGraph::edge_of(port), net.now);
}

void let_pass(NetworkScript& script, const NetworkLine& line) {
  constexpr Time kLongest = Time::from_us(3'600'000'000);
  auto& net = NetworkActions::own(script);
  const Time then = net.now + Time::from_ns(static_cast<std::int64_t>(line.numbers[0]));
  if (then > kLongest) {
    NetworkActions::refuse(script, line, "expected one hour in all at most");
    return;
  }
  net.now = then;
  net.links.detect(then);
}

void tell_port(NetworkScript& script, const NetworkLine& line, PortId port) {
  const auto& net = NetworkActions::own(script);
  const auto& counts = net.counts[port];
  NetworkActions::tell(script, {{"event", "network_port"},
                                {"port", line.from + "-" + line.to},
                                {"packets", counts.packets},
                                {"bytes", counts.bytes},
                                {"full", counts.full},
                                {"red", counts.red},
                                {"ce", counts.ce},
                                {"queued", net.queued[port]},
                                {"up", net.links.is_up(NetworkGraph::edge_of(port))}});
}

void tell_counts(NetworkScript& script, const NetworkLine& /*line*/) {
  const auto& net = NetworkActions::own(script);
  Json event = {{"event", "network_counts"}};
  for (std::size_t i = 0; i < kNetworkOutcomes; ++i) {
    event[name_of(static_cast<NetworkOutcome>(i))] = net.outcomes[i];
  }
  event["ecmp"] =
      sum_of<std::uint64_t>(net.choices, [](const PathChoice& one) { return one.counts().ecmp; });
  event["adaptive"] = sum_of<std::uint64_t>(
      net.choices, [](const PathChoice& one) { return one.counts().adaptive; });
  NetworkActions::tell(script, event);
}

}  // namespace

const std::vector<NetworkVerb>& network_verbs() {
  using A = NetworkArgument;
  using Do = NetworkActions;
  static const std::vector<NetworkVerb> kVerbs = {
      {"network", {A::kSetup}, Do::set_up},
      {"send", {A::kPacket}, Do::between_hosts<send_packet>},
      {"packets", {A::kPacket, A::kNumber}, Do::between_hosts<send_packets>},
      {"sessions", {A::kPacket, A::kNumber, A::kNumber}, Do::between_hosts<send_sessions>},
      {"queue", {A::kPort, A::kNumber}, Do::of_port<set_queue>},
      {"down", {A::kPort}, Do::of_port<take_down>},
      {"up", {A::kPort}, Do::of_port<bring_up>},
      {"wait", {A::kNumber}, let_pass},
      {"port", {A::kPort}, Do::of_port<tell_port>},
      {"counts", {}, tell_counts}};
  return kVerbs;
}

}  // namespace flitwise
