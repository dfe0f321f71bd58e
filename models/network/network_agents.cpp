// SPDX-License-Identifier: Apache-2.0
#include "network/network_agents.h"

#include <algorithm>
#include <utility>

#include "network/network_event.h"
#include "rdma/rdma_frame.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kUdHeaders = 14 + 20 + 8 + 12 + 8 + 4;  // with DETH and ICRC

}  // namespace

NetworkAgents::NetworkAgents(const SrdmaConfig& srdma, NodeId hosts, std::uint64_t seed,
                             const NetworkHostRules& rules, NetworkEnds& ends, EventQueue& events,
                             SessionLog& log, Owner& owner)
    : srdma_(srdma), rules_(rules), ends_(ends), events_(events), owner_(owner) {
  const SessionAgentRules agents(srdma, hosts, seed);
  for (NodeId host = 0; host < hosts; ++host) {
    agents_.push_back({std::make_unique<SessionAgent>(agents, host, log)});
  }
}

void NetworkAgents::add(std::uint32_t first) {
  for (std::uint32_t number = first; number < ends_.size(); ++number) {
    NetworkEnd& end = ends_[number];
    const std::uint32_t leader = first + (number - first) % 2;
    end.group =
        number == leader ? &agent_of(end).add(number, *end.connection) : ends_[leader].group;
  }
}

bool NetworkAgents::has_group(std::uint32_t number, const Flow& flow, Time now) {
  const NetworkEnd& end = ends_[number];
  if (end.group->is_up) {
    return true;
  }
  SessionAgent& agent = agent_of(end);
  agent.connect(*end.group, now);
  follow(agent, now);
  if (srdma_.connect == GroupConnect::kFirstFlow) {
    return true;
  }
  waiting_.emplace(number, flow);
  return false;
}

bool NetworkAgents::admits(const FabricPacket& packet, Time now) {
  SessionAgent& agent = *agents_[packet.destination].agent;
  const bool admits = agent.admits(packet, now);
  follow(agent, now);
  return admits;
}

void NetworkAgents::obey(std::uint32_t number, const ControlDecision& decision, Time now) {
  const NetworkEnd& end = ends_[number];
  SessionAgent& agent = agent_of(end);
  agent.obey(*end.group, decision, now);
  follow(agent, now);
}

void NetworkAgents::close_drained(std::uint32_t number, Time now) {
  const NetworkEnd& end = ends_[number];
  SessionAgent& agent = agent_of(end);
  agent.close_drained(*end.group, now);
  follow(agent, now);
}

void NetworkAgents::expire(NodeId host, Time now) {
  Agent& one = agents_[host];
  if (one.armed > now) {
    return;  // of a time that was put off
  }
  one.armed = Time::never();
  one.agent->expire(now);
  follow(*one.agent, now);
}

bool NetworkAgents::next(NodeId host, FabricPackets::Index index, FabricPacket& packet) {
  SessionAgent& agent = *agents_[host].agent;
  if (!agent.has_message()) {
    return false;
  }
  ConnectionManager::Outgoing out = agent.take_message();
  packet = FabricPacket{};
  packet.kind = FabricPacket::Kind::kControl;
  packet.destination = host_of_address(out.destination);
  const auto port = static_cast<std::uint16_t>(srdma_.cm_port);
  packet.tuple = {address_of_host(host), out.destination, port, port};
  packet.hash = hash_of({packet.tuple.source, packet.tuple.destination, port, port}, rules_.hash,
                        rules_.is_symmetric);
  packet.tos = rules_.answer_tos;
  packet.bytes = wire_bytes_of(std::size_t{kUdHeaders} + bytes_of(out.message).size() +
                               (srdma_.cm_plain ? 0U : kSecuredBytes));
  control_[index] = std::move(out.message);
  return true;
}

void NetworkAgents::receive(FabricPackets::Index index, const FabricPacket& packet, Time now) {
  SessionAgent& agent = *agents_[packet.destination].agent;
  const auto message = control_.find(index);
  agent.receive(message->second, host_of_address(packet.tuple.source), now);
  control_.erase(message);
  follow(agent, now);
}

// What the agent of a host has done concerns its connections, its port and its timer.
void NetworkAgents::follow(SessionAgent& agent, Time now) {
  for (const std::uint32_t number : agent.take_changed()) {
    if (ends_[number].group->is_up) {
      post_waiting(number, now);
    }
    owner_.sessions_have_changed(number);
  }
  Agent& one = agents_[agent.host()];
  if (agent.has_message()) {
    owner_.agent_has_message(agent.host());
  }
  if (agent.due() < one.armed) {
    one.armed = std::max(agent.due(), now);
    events_.add(one.armed, event_of(NetworkEvent::kSessions, agent.host()));
  }
}

// Their time begins now.
void NetworkAgents::post_waiting(std::uint32_t number, Time now) {
  const auto [first, last] = waiting_.equal_range(number);
  std::vector<Flow> flows;
  for (auto one = first; one != last; ++one) {
    flows.push_back(one->second);
  }
  waiting_.erase(first, last);
  for (Flow& flow : flows) {
    flow.start = now;
    owner_.post(number, flow);
  }
}

}  // namespace flitwise
