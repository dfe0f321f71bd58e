// SPDX-License-Identifier: Apache-2.0
// Requests of this end. [HS-1] [HS-3]
#include <algorithm>
#include <utility>

#include "srdma/connection_manager.h"

namespace flitwise {

// Its lowest bit says which end has named the group, so that both may name one at once.
GroupId ConnectionManager::new_group_id(std::uint32_t peer) {
  for (;;) {
    const GroupId id = next_group_++ << 1 | (is_higher_than(peer) ? 1U : 0U);
    if (!groups_.find(peer, id)) {
      return id;
    }
  }
}

CmTicket ConnectionManager::start(std::unique_ptr<Operation> operation, Time now) {
  CmMessage& request = operation->request;
  request.transaction = std::uint64_t{rules_.start} << 32 | ++transactions_;
  operation->due = now + rules_.timeout;
  operation->left = rules_.retries;
  wake_by(operation->due);
  send(request, operation->peer);
  operations_.push_back(std::move(operation));
  return {operations_.back()->request.transaction, CmReason::kNone};
}

CmMessage ConnectionManager::request_for(CmKind kind, GroupSlot group) {
  CmMessage request;
  request.kind = kind;
  request.group = groups_.at(group).id();
  return request;
}

CmTicket ConnectionManager::connect(const ConnectRequest& wanted, Time now) {
  const std::vector<CmPair>& pairs = wanted.pairs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto is_same = [&](const CmPair& one) { return one.number == pairs[i].number; };
    if (groups_.group_of(pairs[i].number) != nullptr ||
        std::count_if(pairs.begin(), pairs.end(), is_same) > 1) {
      return {0, CmReason::kBadQp};
    }
  }
  if (pairs.empty()) {
    return {0, CmReason::kBadQp};
  }
  if (pairs.size() > std::min<std::size_t>(groups_.rules().max_pairs, kMostCmPairs)) {
    return {0, CmReason::kNoResource};
  }
  const std::vector<IpPair> paths =
      wanted.paths.empty() ? std::vector<IpPair>{{rules_.address, wanted.remote}} : wanted.paths;
  std::vector<CmSession> sessions;
  const unsigned most = std::min(wanted.sessions, groups_.rules().max_sessions);
  for (unsigned i = 0; i < most; ++i) {
    if (const auto tuple = groups_.ports().draw(paths[i % paths.size()], now)) {
      sessions.push_back({*tuple, 0});
    } else {
      ++counts_.no_port;
    }
  }
  const auto slot = sessions.empty()
                        ? std::nullopt
                        : groups_.open(wanted.remote, new_group_id(wanted.remote), wanted.service);
  if (!slot) {
    for (const CmSession& session : sessions) {
      groups_.ports().release(session.tuple, now, false);
    }
    return {0, sessions.empty() ? CmReason::kNoPort : CmReason::kNoResource};
  }
  for (const CmPair& pair : pairs) {
    groups_.attach(*slot, {pair.number, 0});
  }
  agreement_at(*slot) = Agreement();
  agreement_at(*slot).paths = paths;
  agreement_at(*slot).next_path = sessions.size();
  auto operation = std::make_unique<Operation>();
  operation->peer = wanted.remote;
  operation->group = *slot;
  CmMessage& request = operation->request;
  request = request_for(CmKind::kConnectRequest, *slot);
  request.service = wanted.service;
  request.capabilities = rules_.capabilities;
  request.gap_timer_ns = static_cast<std::uint32_t>(rules_.gap_timer.ns());
  request.pairs = pairs;
  request.sessions = std::move(sessions);
  offer_key(*operation);
  return start(std::move(operation), now);
}

void ConnectionManager::offer_key(Operation& operation) {
  if (credentials().is_secured) {
    operation.keys = std::make_unique<KeyAgreement>(random_);
    operation.request.share = operation.keys->share();
    operation.request.lifetime_us = own_lifetime_us();
  }
}

std::uint32_t ConnectionManager::own_lifetime_us() const {
  return static_cast<std::uint32_t>(credentials().lifetime.fs / Time::from_us(1).fs);
}

CmTicket ConnectionManager::add_session(GroupSlot slot, Time now) {
  return add_session(slot, false, now);
}

CmTicket ConnectionManager::add_session(GroupSlot slot, bool is_internal, Time now) {
  const SessionGroup& group = groups_.at(slot);
  if (!groups_.is_open(slot) || group.state() != SessionGroup::State::kUp) {
    return {0, CmReason::kNoGroup};
  }
  if (group.sessions() + pending_sessions(slot) >= groups_.rules().max_sessions) {
    return {0, CmReason::kNoResource};
  }
  Agreement& agreement = agreement_at(slot);
  const auto tuple =
      groups_.ports().draw(agreement.paths[agreement.next_path++ % agreement.paths.size()], now);
  if (!tuple) {
    ++counts_.no_port;
    return {0, CmReason::kNoPort};
  }
  auto operation = std::make_unique<Operation>();
  operation->peer = group.peer();
  operation->group = slot;
  operation->is_internal = is_internal;
  operation->request = request_for(CmKind::kAddRequest, slot);
  operation->request.sessions = {{*tuple, 0}};
  offer_key(*operation);
  return start(std::move(operation), now);
}

CmTicket ConnectionManager::delete_session(SessionPlace place, Time now) {
  const SessionGroup& group = groups_.at(place.group);
  if (!groups_.is_open(place.group) || place.session >= group.slots() ||
      !is_eligible(group.session(place.session).state)) {
    return {0, CmReason::kSessionGone};
  }
  auto operation = std::make_unique<Operation>();
  operation->peer = group.peer();
  operation->group = place.group;
  operation->session = group.session(place.session).id;
  operation->request = request_for(CmKind::kDeleteRequest, place.group);
  operation->request.session = operation->session;
  groups_.drain(place, true, now);
  return start(std::move(operation), now);
}

CmTicket ConnectionManager::refresh(SessionPlace place, Time now) {
  return refresh(place, false, now);
}

CmTicket ConnectionManager::refresh(SessionPlace place, bool is_internal, Time now) {
  const SessionGroup& group = groups_.at(place.group);
  if (!groups_.is_open(place.group) || place.session >= group.slots() ||
      !is_eligible(group.session(place.session).state) || !group.session(place.session).keys) {
    return {0, CmReason::kSessionGone};
  }
  const GroupSession& session = group.session(place.session);
  if (session.keys->has_offer() || own_refresh(place.group, session.id) != nullptr) {
    return {0, CmReason::kBusy};
  }
  auto operation = std::make_unique<Operation>();
  operation->peer = group.peer();
  operation->group = place.group;
  operation->session = session.id;
  operation->is_internal = is_internal;
  operation->request = request_for(CmKind::kRefreshRequest, place.group);
  operation->request.session = session.id;
  operation->request.epoch = session.keys->next_number();
  offer_key(*operation);
  groups_.set_refreshing(place, credentials().engine == RekeyEngine::kSoftware, now);
  return start(std::move(operation), now);
}

ConnectionManager::Operation* ConnectionManager::own_refresh(GroupSlot group, SessionId session) {
  const auto one = std::find_if(operations_.begin(), operations_.end(), [&](const auto& own) {
    return own->group == group && own->request.kind == CmKind::kRefreshRequest &&
           own->session == session;
  });
  return one == operations_.end() ? nullptr : one->get();
}

CmTicket ConnectionManager::request_of_group(CmKind kind, GroupSlot slot, std::vector<CmPair> pairs,
                                             Time now) {
  auto operation = std::make_unique<Operation>();
  operation->peer = groups_.at(slot).peer();
  operation->group = slot;
  operation->request = request_for(kind, slot);
  operation->request.pairs = std::move(pairs);
  return start(std::move(operation), now);
}

CmTicket ConnectionManager::attach(GroupSlot slot, const CmPair& pair, Time now) {
  if (!groups_.is_open(slot) || groups_.at(slot).state() != SessionGroup::State::kUp) {
    return {0, CmReason::kNoGroup};
  }
  if (groups_.group_of(pair.number) != nullptr) {
    return {0, CmReason::kBadQp};
  }
  if (!groups_.attach(slot, {pair.number, 0})) {
    return {0, CmReason::kNoResource};
  }
  return request_of_group(CmKind::kAttachRequest, slot, {pair}, now);
}

CmTicket ConnectionManager::detach(GroupSlot slot, std::uint32_t pair, Time now) {
  if (!groups_.is_open(slot)) {
    return {0, CmReason::kNoGroup};
  }
  const auto& pairs = groups_.at(slot).pairs();
  const auto one = std::find_if(pairs.begin(), pairs.end(),
                                [pair](const GroupPair& own) { return own.own == pair; });
  if (one == pairs.end()) {
    return {0, CmReason::kBadQp};
  }
  if (one->peer == 0) {
    return {0, CmReason::kBusy};  // it is not attached yet
  }
  const CmTicket ticket =
      request_of_group(CmKind::kDetachRequest, slot, {{one->own, 0}, {one->peer, 0}}, now);
  groups_.detach(slot, pair);
  if (groups_.at(slot).pairs().empty()) {
    close_group(slot, CmReason::kNone, now);
  }
  return ticket;
}

CmTicket ConnectionManager::disconnect(GroupSlot slot, Time now) {
  return groups_.is_open(slot) ? request_of_group(CmKind::kDisconnectRequest, slot, {}, now)
                               : CmTicket{0, CmReason::kNoGroup};
}

void ConnectionManager::advertise(GroupSlot slot, Time gap_timer) {
  CmMessage message = request_for(CmKind::kTimer, slot);
  message.transaction = std::uint64_t{rules_.start} << 32 | ++transactions_;
  message.gap_timer_ns = static_cast<std::uint32_t>(gap_timer.ns());
  send(message, groups_.at(slot).peer());
}

unsigned ConnectionManager::pending_sessions(GroupSlot slot) const {
  return static_cast<unsigned>(
      std::count_if(operations_.begin(), operations_.end(), [slot](const auto& one) {
        return one->group == slot && one->request.kind == CmKind::kAddRequest;
      }));
}

}  // namespace flitwise
