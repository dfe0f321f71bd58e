// SPDX-License-Identifier: Apache-2.0
#include "network/standing_sessions.h"

#include <fmt/format.h>

#include <algorithm>

#include "srdma/configured_rules.h"

namespace flitwise {
namespace {

constexpr std::uint16_t kRocePort = 4791;

}  // namespace

StandingSessions::StandingSessions(const SrdmaConfig& srdma, NodeId hosts, std::uint64_t seed,
                                   NetworkEnds& ends)
    : srdma_(srdma), seed_(seed), ends_(ends), pairs_(hosts) {}

PortPairs& StandingSessions::ports_of(NodeId host) {
  std::unique_ptr<PortPairs>& pairs = pairs_[host];
  if (!pairs) {
    PortRules rules;
    take_from(srdma_, rules);
    pairs = std::make_unique<PortPairs>(rules, KeyedStream(seed_, fmt::format("port/{}", host)));
  }
  return *pairs;
}

// The answer: how many were. One that the peer has in use is drawn again, and so does not stand in
// the way a second time. [SG-2] [SG-3]
unsigned StandingSessions::add(std::uint32_t number, unsigned count, Time now) {
  NetworkEnd& end = ends_[number];
  const HostConnection::Ends& ends = end.connection->ends();
  PortPairs& own = ports_of(ends.own);
  std::vector<SessionTuple> refused;
  unsigned added = 0;
  while (added < count) {
    const auto drawn = own.draw({address_of_host(ends.own), address_of_host(ends.peer)}, now);
    if (!drawn) {
      break;
    }
    if (!ports_of(ends.peer).take(drawn->reverse(), now)) {
      refused.push_back(*drawn);
      continue;
    }
    SessionTuple tuple = *drawn;
    if (!srdma_.is_on) {
      tuple.destination_port = kRocePort;  // [CC-9]
    }
    const SessionId id = next_[number / 2]++;
    end.connection->add_session(id, tuple, now);
    ends_[end.peer].connection->add_session(id, tuple.reverse(), now);
    ++added;
  }
  for (const SessionTuple& tuple : refused) {
    own.release(tuple, now, false);
  }
  return added;
}

void StandingSessions::drain(std::uint32_t number, const BalancedSession& victim) {
  const SessionId id = victim.id;
  draining_[number].push_back({id, victim.tuple});
  ends_[number].connection->drain_session(id);
  ends_[ends_[number].peer].connection->drain_session(id);
}

// Those that are empty at both ends; their ports rest. [SG-C4]
void StandingSessions::close_drained(std::uint32_t number, Time now) {
  const auto all = draining_.find(number);
  if (all == draining_.end()) {
    return;
  }
  HostConnection& own = *ends_[number].connection;
  HostConnection& peer = *ends_[ends_[number].peer].connection;
  const auto is_closed = [&](const Draining& one) {
    if (!own.close_if_empty(one.id) || !peer.close_if_empty(one.id)) {
      return false;
    }
    ports_of(own.ends().own).release(one.tuple, now, true);
    ports_of(peer.ends().own).release(one.tuple.reverse(), now, true);
    return true;
  };
  auto& list = all->second;
  list.erase(std::remove_if(list.begin(), list.end(), is_closed), list.end());
}

void StandingSessions::obey(std::uint32_t number, const ControlDecision& decision, Time now) {
  close_drained(number, now);
  SessionBalancer& balancer = ends_[number].connection->balancer();
  if (decision.action == ControlDecision::Action::kAdd) {
    balancer.begin_add(now);
    balancer.end_add(now, add(number, 1, now) == 1);
  } else if (decision.action == ControlDecision::Action::kRemove) {
    drain(number, balancer.session(decision.victim));
  }
}

}  // namespace flitwise
