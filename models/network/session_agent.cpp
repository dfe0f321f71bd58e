// SPDX-License-Identifier: Apache-2.0
#include "network/session_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "srdma/configured_rules.h"

namespace flitwise {
namespace {

constexpr ServiceId kFlows = 1;

std::vector<CmPair> pairs_of(const HostConnection& first) {
  std::vector<CmPair> pairs = {{first.ends().number, first.ends().first}};
  for (const HostConnection* const one : first.others()) {
    pairs.push_back({one->ends().number, one->ends().first});
  }
  return pairs;
}

CmRules manager_of(CmRules rules, NodeId host) {
  rules.address = address_of_host(host);
  return rules;
}

}  // namespace

SessionAgentRules::SessionAgentRules(const SrdmaConfig& srdma, unsigned hosts,
                                     std::uint64_t run_seed)
    : initial(srdma.sessions), seed(run_seed) {
  sessions.max_groups = hosts;
  take_from(srdma, sessions);
  take_from(srdma, ports);
  ports.reserved.push_back(static_cast<std::uint16_t>(srdma.cm_port));
  take_from(srdma, manager);
  manager.capabilities.mtu = static_cast<std::uint16_t>(srdma.mtu);
}

SessionAgent::SessionAgent(const SessionAgentRules& rules, NodeId host, SessionLog& log)
    : host_(host),
      initial_(rules.initial),
      log_(log),
      groups_(rules.sessions,
              PortPairs(rules.ports, KeyedStream(rules.seed, fmt::format("port/{}", host)))),
      manager_(manager_of(rules.manager, host), groups_,
               KeyedStream(rules.seed, fmt::format("key/{}", host))),
      checks_(groups_, rules.ports.reserved.back()) {
  manager_.listen(kFlows, [this](std::uint32_t peer, const std::vector<CmPair>& /*asked*/,
                                 std::vector<CmPair>& own) {
    own = pairs_of(*by_peer_.at(host_of_address(peer)).connection);
    return CmReason::kNone;
  });
}

SessionAgent::Group& SessionAgent::add(std::uint32_t end, HostConnection& connection) {
  Group& group = by_peer_[connection.ends().peer];
  group.end = end;
  group.connection = &connection;
  return group;
}

SessionAgent::Group& SessionAgent::group_at(GroupSlot slot) {
  return by_peer_.at(host_of_address(groups_.at(slot).peer()));
}

// ---- what the host wants

void SessionAgent::connect(Group& group, Time now) {
  if (group.slot || group.asked != 0 || group.connection->has_failed()) {
    return;
  }
  ConnectRequest request;
  request.remote = address_of_host(group.connection->ends().peer);
  request.service = kFlows;
  request.pairs = pairs_of(*group.connection);
  request.sessions = initial_;
  const CmTicket ticket = manager_.connect(request, now);
  group.asked = ticket.id;
  note(group, "connect", "", now);
  if (ticket.id == 0) {
    note(group, "failed", name_of(ticket.reason), now);
    fail(group, ticket.reason, now);
  }
  settle(now);
}

void SessionAgent::obey(Group& group, const ControlDecision& decision, Time now) {
  SessionBalancer& balancer = group.connection->balancer();
  if (!group.slot) {
    return;
  }
  if (const auto timer = group.connection->take_gap_timer()) {
    manager_.advertise(*group.slot, *timer);
    group.connection->set_gap_times(timer, std::nullopt);
  }
  if (decision.action == ControlDecision::Action::kAdd) {
    balancer.begin_add(now);
    const CmTicket ticket = manager_.add_session(*group.slot, now);
    note(group, "add", name_of(decision.cause), now);
    if (ticket.id != 0) {
      group.adding.push_back(ticket.id);
    } else {
      note(group, "failed", name_of(ticket.reason), now);
      balancer.end_add(now, false);
    }
  } else if (decision.action == ControlDecision::Action::kRemove) {
    const BalancedSession& victim = balancer.session(decision.victim);
    note(group, "remove", name_of(decision.cause), now, victim.id);
    const unsigned slot = groups_.at(*group.slot).slot_of(victim.id);
    manager_.delete_session({*group.slot, static_cast<SessionSlot>(slot)}, now);
  }
  settle(now);
}

void SessionAgent::close_empty(Group& group, Time now) {
  const auto is_empty = [&](SessionPlace place) {
    const SessionBalancer& balancer = group.connection->balancer();
    const GroupSession& session = groups_.at(place.group).session(place.session);
    const SessionIndex index = balancer.find(session.id);
    if (session.state == SessionState::kDraining && index != kNoSessionIndex &&
        balancer.in_flight(index) > 0) {
      return false;
    }
    if (session.state == SessionState::kDraining) {
      groups_.settle(place, 1, now);
    }
    return true;
  };
  auto& all = group.draining;
  all.erase(std::remove_if(all.begin(), all.end(), is_empty), all.end());
  settle(now);
}

void SessionAgent::fail(Group& group, CmReason reason, Time now) {
  group.connection->give_up(!group.is_up
                                ? fmt::format("as its handshake has failed: {}", name_of(reason))
                                : "as its session group has no session",
                            now);
  changed_.push_back(group.end);
}

// ---- what comes

bool SessionAgent::admits(const FabricPacket& packet, Time now) {
  const ReceivedFrame received =
      checks_.check(packet.tuple, packet.fields.queue_pair, packet.epoch, now);
  if (received.outcome != ReceiveCounter::kData) {
    return false;
  }
  manager_.data_came(received.place, received.epoch, now);
  settle(now);
  return true;
}

void SessionAgent::receive(const CmMessage& message, NodeId from, Time now) {
  manager_.receive(message, address_of_host(from), now);
  settle(now);
}

void SessionAgent::expire(Time now) {
  manager_.tick(now);
  settle(now);
}

ConnectionManager::Outgoing SessionAgent::take_message() {
  ConnectionManager::Outgoing out = std::move(messages_.front());
  messages_.pop_front();
  return out;
}

// ---- what connections are told

void SessionAgent::settle(Time now) {
  SessionEvent event;
  while (groups_.take_event(event)) {
    take(event, now);
  }
  ConnectionManager::Outgoing out;
  while (manager_.take_message(out)) {
    messages_.push_back(std::move(out));
  }
}

void SessionAgent::take(const SessionEvent& event, Time now) {
  using Kind = SessionEvent::Kind;
  Group& group = group_at(event.place.group);
  changed_.push_back(group.end);
  switch (event.kind) {
    case Kind::kPairReady: group.slot = event.place.group; break;
    case Kind::kGroupUp: group.is_up = true; [[fallthrough]];
    case Kind::kGroupDown:
    case Kind::kGroupBack: note(group, name_of(event.kind), "", now); break;
    case Kind::kGroupFailed:
      note(group, name_of(event.kind), "down", now);
      fail(group, CmReason::kNone, now);
      break;
    case Kind::kGroupClosed:
      note(group, name_of(event.kind), name_of(event.reason), now);
      group.slot.reset();
      fail(group, event.reason, now);
      group.is_up = false;
      break;
    case Kind::kDone:
    case Kind::kFailed: end_exchange(group, event, now); break;
    case Kind::kGapTimer: group.connection->set_gap_times(std::nullopt, event.span); break;
    case Kind::kPairDetached: break;
    default: take_session(group, event, now); break;
  }
}

void SessionAgent::end_exchange(Group& group, const SessionEvent& event, Time now) {
  const bool is_done = event.kind == SessionEvent::Kind::kDone;
  if (!is_done) {
    note(group, "failed", name_of(event.reason), now);
  }
  const auto added = std::find(group.adding.begin(), group.adding.end(), event.ticket);
  if (added != group.adding.end()) {
    group.adding.erase(added);
    group.connection->balancer().end_add(now, is_done);
  } else if (event.ticket == group.asked && !is_done) {
    fail(group, event.reason, now);
  }
}

void SessionAgent::take_session(Group& group, const SessionEvent& event, Time now) {
  using Kind = SessionEvent::Kind;
  const GroupSession& session = groups_.at(event.place.group).session(event.place.session);
  const char* cause = "";
  if (event.kind == Kind::kSessionExpired) {
    cause = "lifetime";
  } else if (event.kind == Kind::kRefreshing) {
    cause = session.is_own ? "refresh_margin" : "peer";
  }
  note(group, name_of(event.kind), cause, now, event.session);
  HostConnection& connection = *group.connection;
  if (event.kind == Kind::kSessionUp) {
    connection.add_session(event.session, session.tuple, now);
    groups_.hold(event.place);
  } else if (event.kind == Kind::kSessionClosed) {
    connection.close_session(event.session);
  }
  if (event.kind == Kind::kSessionDraining) {
    group.draining.push_back(event.place);
  }
  settle_eligible(group);
  if (event.kind == Kind::kSessionExpired) {
    connection.resend(event.session, now);
  }
}

// By which sessions packets may leave, and by which keys.
void SessionAgent::settle_eligible(Group& group) {
  const SessionGroup& own = groups_.at(*group.slot);
  for (unsigned slot = 0; slot < own.slots(); ++slot) {
    const GroupSession& session = own.session(static_cast<SessionSlot>(slot));
    group.connection->set_session(session.id, (own.eligible() >> slot & 1U) != 0,
                                  session.keys ? session.keys->current().number : EpochNumber{0});
  }
}

void SessionAgent::note(const Group& group, const char* what, const char* cause, Time now,
                        std::optional<SessionId> session) {
  log_.add({0, now, fmt::format("h{}", host_), group.end,
            session ? fmt::format("{}", *session) : std::string(), what, cause});
}

const char* SessionAgent::state_of(const Group& group, SessionId session) const {
  if (!group.slot) {
    return name_of(SessionState::kClosed);
  }
  const SessionGroup& own = groups_.at(*group.slot);
  const unsigned slot = own.slot_of(session);
  return name_of(slot == own.slots() ? SessionState::kClosed
                                     : own.session(static_cast<SessionSlot>(slot)).state);
}

}  // namespace flitwise
