// SPDX-License-Identifier: Apache-2.0
// Sessions of a network of packets: those that stand, and those whose handshake takes time.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "network/packet_network.h"
#include "rdma/rdma_frame.h"
#include "srdma/configured_rules.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kUdHeaders = 14 + 20 + 8 + 12 + 8 + 4;  // with DETH and ICRC

}  // namespace

void PacketNetwork::make_agents() {
  if (!config_.srdma.is_on || config_.srdma.connect == GroupConnect::kStanding) {
    return;
  }
  const SessionAgentRules rules(config_.srdma, plan_.hosts, config_.seed);
  for (NodeId host = 0; host < plan_.hosts; ++host) {
    agents_.push_back({std::make_unique<SessionAgent>(rules, host, log_)});
  }
}

std::uint32_t PacketNetwork::connect(NodeId source, NodeId destination) {
  std::uint32_t& known = end_of_[std::size_t{source} * plan_.hosts + destination];
  if (known != kNoEnd) {
    return known;
  }
  const auto first = static_cast<std::uint32_t>(ends_.size());
  Random random = random_.split(fmt::format("connection {} {}", source, destination));
  KeyedStream salts(config_.seed, fmt::format("hrw/{}", first));
  for (unsigned pair = 0; pair < config_.flows.queue_pairs; ++pair) {
    add_pair(source, destination, first, random, salts);
  }
  end_of_[std::size_t{source} * plan_.hosts + destination] = first;
  end_of_[std::size_t{destination} * plan_.hosts + source] = first + 1;
  if (agents_.empty()) {
    for (std::uint32_t end = first; end < ends_.size(); end += 2) {
      if (ends_[end].connection->is_first()) {
        add_sessions(end, config_.srdma.is_on ? config_.srdma.sessions : 1);
      }
    }
    return first;
  }
  for (std::uint32_t end = first; end < ends_.size(); ++end) {
    const std::uint32_t leader = first + (end - first) % 2;
    ends_[end].group = end == leader ? &agent_of(ends_[end]).add(end, *ends_[end].connection)
                                     : ends_[leader].group;
  }
  return first;
}

// Ends of even and of odd numbers are at one host each. Without session groups each queue pair has
// a source port of its own. [SG-7] [CC-9]
void PacketNetwork::add_pair(NodeId source, NodeId destination, std::uint32_t first, Random& random,
                             KeyedStream& salts) {
  const auto number = static_cast<std::uint32_t>(ends_.size());
  const auto psn = static_cast<Psn>(random.below(kPsnMask + 1U));
  const auto peer_psn = static_cast<Psn>(random.below(kPsnMask + 1U));
  const std::string more = number == first ? "" : fmt::format(" {}", number - first);
  const auto add = [&](const HostConnection::Ends& ends, const char* stream, std::uint32_t side) {
    End end;
    end.peer = number + 1 - side;
    end.connection =
        number == first || !config_.srdma.is_on
            ? std::make_unique<HostConnection>(rules_, memory_, ends,
                                               SipKey{salts.next(), salts.next()},
                                               random.split(stream + more))
            : std::make_unique<HostConnection>(rules_, ends, *ends_[first + side].connection);
    ends_.push_back(std::move(end));
    ports_[ends.own].add_end();
  };
  add({source, destination, number + 1, number + 2, psn, peer_psn}, "own", 0);
  add({destination, source, number + 2, number + 1, peer_psn, psn}, "peer", 1);
  next_session_.push_back(0);
}

PortPairs& PacketNetwork::ports_of(NodeId host) {
  std::unique_ptr<PortPairs>& pairs = pairs_[host];
  if (!pairs) {
    PortRules rules;
    take_from(config_.srdma, rules);
    pairs =
        std::make_unique<PortPairs>(rules, KeyedStream(config_.seed, fmt::format("port/{}", host)));
  }
  return *pairs;
}

// One that the peer has in use is drawn again, and so does not stand in the way a second time.
// [SG-2] [SG-3]
unsigned PacketNetwork::add_sessions(std::uint32_t number, unsigned count) {
  End& end = ends_[number];
  const HostConnection::Ends& ends = end.connection->ends();
  PortPairs& own = ports_of(ends.own);
  std::vector<SessionTuple> refused;
  unsigned added = 0;
  while (added < count) {
    const auto drawn = own.draw({address_of_host(ends.own), address_of_host(ends.peer)}, now_);
    if (!drawn) {
      break;
    }
    if (!ports_of(ends.peer).take(drawn->reverse(), now_)) {
      refused.push_back(*drawn);
      continue;
    }
    SessionTuple tuple = *drawn;
    if (!config_.srdma.is_on) {
      tuple.destination_port = 4791;  // [CC-9]
    }
    const SessionId id = next_session_[number / 2]++;
    end.connection->add_session(id, tuple, now_);
    ends_[end.peer].connection->add_session(id, tuple.reverse(), now_);
    ++added;
  }
  for (const SessionTuple& tuple : refused) {
    own.release(tuple, now_, false);
  }
  return added;
}

// Those that are empty at both ends; their ports rest. [SG-C4]
void PacketNetwork::close_standing(std::uint32_t number) {
  End& end = ends_[number];
  End& peer = ends_[end.peer];
  const auto is_closed = [&](const Draining& one) {
    if (!end.connection->close_if_empty(one.id) || !peer.connection->close_if_empty(one.id)) {
      return false;
    }
    ports_of(end.connection->ends().own).release(one.tuple, now_, true);
    ports_of(end.connection->ends().peer).release(one.tuple.reverse(), now_, true);
    return true;
  };
  auto& all = end.draining;
  all.erase(std::remove_if(all.begin(), all.end(), is_closed), all.end());
}

// Where sessions stand they come and go at both ends at once: their handshake takes no time.
void PacketNetwork::obey(std::uint32_t number, const ControlDecision& decision) {
  End& end = ends_[number];
  if (end.group != nullptr) {
    SessionAgent& agent = agent_of(end);
    agent.obey(*end.group, decision, now_);
    follow(agent);
    return;
  }
  close_standing(number);
  if (decision.action == ControlDecision::Action::kAdd) {
    end.connection->balancer().begin_add(now_);
    end.connection->balancer().end_add(now_, add_sessions(number, 1) == 1);
  } else if (decision.action == ControlDecision::Action::kRemove) {
    const BalancedSession& victim = end.connection->balancer().session(decision.victim);
    end.draining.push_back({victim.id, victim.tuple});
    end.connection->drain_session(victim.id);
    ends_[end.peer].connection->drain_session(victim.id);
  }
}

// ---- sessions whose handshake takes time

SessionAgent& PacketNetwork::agent_of(const End& end) const {
  return *agents_[end.connection->ends().own].agent;
}

// May a flow be posted? Else it waits for the group of its hosts, which is asked for.
bool PacketNetwork::has_group(std::uint32_t number) {
  const End& end = ends_[number];
  if (end.group == nullptr || end.group->is_up) {
    return true;
  }
  SessionAgent& agent = agent_of(end);
  agent.connect(*end.group, now_);
  follow(agent);
  return config_.srdma.connect == GroupConnect::kFirstFlow;
}

bool PacketNetwork::is_admitted(const FabricPacket& packet) {
  if (agents_.empty()) {
    return true;
  }
  SessionAgent& agent = *agents_[packet.destination].agent;
  const bool is_admitted = agent.admits(packet, now_);
  follow(agent);
  return is_admitted;
}

bool PacketNetwork::next_control(NodeId host, FabricPackets::Index index) {
  if (agents_.empty() || !agents_[host].agent->has_message()) {
    return false;
  }
  ConnectionManager::Outgoing out = agents_[host].agent->take_message();
  FabricPacket& packet = packets_[index];
  packet = FabricPacket{};
  packet.kind = FabricPacket::Kind::kControl;
  packet.destination = host_of_address(out.destination);
  const auto port = static_cast<std::uint16_t>(config_.srdma.cm_port);
  packet.tuple = {address_of_host(host), out.destination, port, port};
  packet.hash = hash_of({packet.tuple.source, packet.tuple.destination, port, port}, rules_.hash,
                        rules_.is_symmetric);
  packet.tos = rules_.answer_tos;
  packet.bytes = wire_bytes_of(std::size_t{kUdHeaders} + bytes_of(out.message).size() +
                               (config_.srdma.cm_plain ? 0U : kSecuredBytes));
  control_[index] = std::move(out.message);
  return true;
}

const CmMessage* PacketNetwork::message_of(FabricPackets::Index index) {
  return packets_[index].kind == FabricPacket::Kind::kControl ? &control_.at(index) : nullptr;
}

void PacketNetwork::take_control(FabricPackets::Index index) {
  const FabricPacket& packet = packets_[index];
  const NodeId from = host_of_address(packet.tuple.source);
  SessionAgent& agent = *agents_[packet.destination].agent;
  const auto message = control_.find(index);
  agent.receive(message->second, from, now_);
  control_.erase(message);
  packets_.free(index);
  follow(agent);
}

void PacketNetwork::expire_sessions(NodeId host) {
  Agent& one = agents_[host];
  if (one.armed > now_) {
    return;  // of a time that was put off
  }
  one.armed = Time::never();
  one.agent->expire(now_);
  follow(*one.agent);
}

void PacketNetwork::close_drained(std::uint32_t number) {
  const End& end = ends_[number];
  if (end.group != nullptr) {
    SessionAgent& agent = agent_of(end);
    agent.close_drained(*end.group, now_);
    follow(agent);
  }
}

// What the agent of a host has done concerns its connections, its port and its timer.
void PacketNetwork::follow(SessionAgent& agent) {
  for (const std::uint32_t number : agent.take_changed()) {
    if (ends_[number].group->is_up) {
      post_waiting(number);
    }
    after(number);
  }
  Agent& one = agents_[agent.host()];
  if (agent.has_message()) {
    wake(agent.host());
  }
  if (agent.due() < one.armed) {
    one.armed = std::max(agent.due(), now_);
    events_.add(one.armed, event_of(NetworkEvent::kSessions, agent.host()));
  }
}

// Their time begins now.
void PacketNetwork::post_waiting(std::uint32_t number) {
  const auto [first, last] = waiting_.equal_range(number);
  std::vector<Flow> flows;
  for (auto one = first; one != last; ++one) {
    flows.push_back(one->second);
  }
  waiting_.erase(first, last);
  for (Flow& flow : flows) {
    flow.start = now_;
    post(number, flow);
  }
}

// ---- what is told of them

std::vector<SrdmaSessionResult> PacketNetwork::sessions() const {
  std::vector<SrdmaSessionResult> rows;
  for (std::uint32_t number = 0; number < ends_.size(); ++number) {
    const End& end = ends_[number];
    const SessionBalancer& balancer = end.connection->balancer();
    if (!end.connection->is_first()) {
      continue;
    }
    const std::string host = fmt::format("h{}", end.connection->ends().own);
    for (SrdmaSessionResult& past : past_session_results(host, number, balancer)) {
      rows.push_back(std::move(past));
    }
    const SessionIndex sessions = balancer.sessions();
    for (SessionIndex index = 0; index < sessions; ++index) {
      if (balancer.stats(index).sent_packets == 0) {
        continue;
      }
      rows.push_back(session_result(host, number, balancer, index));
      if (end.group != nullptr) {
        rows.back().state = agent_of(end).state_of(*end.group, balancer.session(index).id);
      }
    }
  }
  return rows;
}

}  // namespace flitwise
