// SPDX-License-Identifier: Apache-2.0
// What an end answers requests of its peer. [HS-1] to [HS-6]
#include <algorithm>
#include <utility>

#include "srdma/connection_manager.h"

namespace flitwise {

void ConnectionManager::answer(const CmMessage& request, std::uint32_t from, Time now) {
  if (from == rules_.address || !make_room_for_reply()) {
    ++counts_.refused;
    return;
  }
  auto reply = std::make_unique<Reply>();
  reply->peer = from;
  CmMessage& message = reply->message;
  message.kind = reply_to(request.kind);
  message.transaction = request.transaction;
  message.group = request.group;
  message.session = request.session;
  message.epoch = request.epoch;
  if (request.kind == CmKind::kConnectRequest) {
    message.reason = answer_connect(request, *reply, now);
  } else if (const auto slot = groups_.find(from, request.group)) {
    reply->group = *slot;
    switch (request.kind) {
      case CmKind::kAddRequest: message.reason = answer_add(request, *reply, now); break;
      case CmKind::kRefreshRequest: message.reason = answer_refresh(request, *reply, now); break;
      case CmKind::kAttachRequest: message.reason = answer_attach(request, *reply); break;
      default: message.reason = answer_other(request, *reply, now); break;
    }
  } else {
    message.reason = CmReason::kNoGroup;
  }
  if (message.reason != CmReason::kNone) {
    counts_.refused += message.reason == CmReason::kMerged ? 0 : 1;
    message.share = {};
    message.pairs.clear();
    message.sessions.clear();
    reply->sessions.clear();
  } else if (needs_ready(request.kind)) {
    reply->due = now + rules_.timeout;
    reply->left = rules_.retries;
    wake_by(reply->due);
  }
  send(message, from);
  remember(std::move(reply));
}

ConnectionManager::Operation* ConnectionManager::own_connect(ServiceId service,
                                                             std::uint32_t peer) {
  const auto one = std::find_if(operations_.begin(), operations_.end(), [&](const auto& operation) {
    return operation->request.kind == CmKind::kConnectRequest && operation->peer == peer &&
           operation->request.service == service && !operation->is_superseded;
  });
  return one == operations_.end() ? nullptr : one->get();
}

// Of a request or a reply that brings keys.
CmReason ConnectionManager::flaw_of_keys(const CmMessage& message) const {
  const Time lifetime = Time::from_us(message.lifetime_us);
  return credentials().is_secured && lifetime < credentials().refresh_margin ? CmReason::kAuth
                                                                             : CmReason::kNone;
}

// The key that both ends make of an offer; the reply carries this end's share.
CmReason ConnectionManager::agree(const CmMessage& request, Reply& reply, KeySecret& secret) {
  if (!credentials().is_secured) {
    return CmReason::kNone;
  }
  const KeyAgreement own(random_);
  reply.message.share = own.share();
  reply.message.lifetime_us = std::min(request.lifetime_us, own_lifetime_us());
  secret = own.agree(request.share);
  return secret ? flaw_of_keys(request) : CmReason::kAuth;
}

CmReason ConnectionManager::own_pairs(const CmMessage& request, std::uint32_t from,
                                      const Operation* own, std::vector<CmPair>& pairs) const {
  if (!are_numbers(request.pairs) || request.pairs.size() > groups_.rules().max_pairs) {
    return CmReason::kBadQp;
  }
  if (own != nullptr) {
    pairs = own->request.pairs;
    return pairs.size() == request.pairs.size() ? CmReason::kNone : CmReason::kBadQp;
  }
  const auto service = std::find_if(services_.begin(), services_.end(),
                                    [&](const Service& one) { return one.id == request.service; });
  if (service == services_.end()) {
    return CmReason::kBadQp;
  }
  const CmReason reason = service->accept(from, request.pairs, pairs);
  const bool is_taken = std::any_of(pairs.begin(), pairs.end(), [this](const CmPair& one) {
    return groups_.group_of(one.number) != nullptr;
  });
  return reason != CmReason::kNone                          ? reason
         : is_taken || pairs.size() != request.pairs.size() ? CmReason::kBadQp
                                                            : CmReason::kNone;
}

CmReason ConnectionManager::answer_connect(const CmMessage& request, Reply& reply, Time now) {
  const CmCapabilities& own = rules_.capabilities;
  const CmCapabilities& theirs = request.capabilities;
  if (own.is_secured != theirs.is_secured || (own.needs_echo && !theirs.has_echo) ||
      (theirs.needs_echo && !own.has_echo)) {
    return CmReason::kCapabilities;
  }
  Operation* const asked = own_connect(request.service, reply.peer);
  if (asked != nullptr && is_higher_than(reply.peer)) {
    reply.message.group = asked->request.group;  // the peer answers that one [HS-6]
    return CmReason::kMerged;
  }
  KeySecret secret;
  std::vector<CmPair> pairs;
  CmReason reason = agree(request, reply, secret);
  if (reason == CmReason::kNone) {
    reason = own_pairs(request, reply.peer, asked, pairs);
  }
  if (reason != CmReason::kNone) {
    return reason;
  }
  std::vector<CmSession> taken;
  for (const CmSession& session : request.sessions) {
    if (taken.size() < groups_.rules().max_sessions &&
        (hand_over(asked, session.tuple.reverse()) ||
         groups_.ports().take(session.tuple.reverse(), now))) {
      taken.push_back(session);
    }
  }
  if (taken.empty()) {
    return request.sessions.empty() ? CmReason::kNoPort : CmReason::kPortInUse;
  }
  const GroupId id =
      groups_.find(reply.peer, request.group) ? new_group_id(reply.peer) : request.group;
  const auto slot = asked != nullptr ? asked->group : groups_.open(reply.peer, id, request.service);
  if (!slot) {
    for (const CmSession& session : taken) {
      groups_.ports().release(session.tuple.reverse(), now, false);
    }
    return CmReason::kNoResource;
  }
  reply.group = *slot;
  if (asked != nullptr) {  // the peer's ids and sessions take the place of its own
    release_ports(*asked, now);
    asked->request.sessions.clear();
    asked->is_merged = asked->is_superseded = true;
    asked->left = 2 * (rules_.retries + 1);
    reply.message.superseded = asked->request.transaction;
    groups_.rename(*slot, id);
  }
  accept_group(request, reply, pairs);
  for (CmSession session : taken) {
    add_accepted(session, secret, reply, now);
  }
  return CmReason::kNone;
}

// Both ends have drawn the same pair of ports: that of a request which gives way is the peer's.
bool ConnectionManager::hand_over(Operation* asked, const SessionTuple& tuple) {
  if (asked == nullptr) {
    return false;
  }
  std::vector<CmSession>& own = asked->request.sessions;
  const auto same = std::find_if(own.begin(), own.end(),
                                 [&](const CmSession& one) { return one.tuple == tuple; });
  if (same == own.end()) {
    return false;
  }
  own.erase(same);
  return true;
}

// The group is pending from now on, with its queue pairs. [HS-2]
void ConnectionManager::accept_group(const CmMessage& request, Reply& reply,
                                     const std::vector<CmPair>& pairs) {
  const CmCapabilities& own = rules_.capabilities;
  CmMessage& message = reply.message;
  message.group = groups_.at(reply.group).id();
  message.service = request.service;
  message.gap_timer_ns = static_cast<std::uint32_t>(rules_.gap_timer.ns());
  CmCapabilities& both = message.capabilities;
  both = request.capabilities;
  both.has_echo = both.has_echo && own.has_echo;
  both.needs_echo = both.needs_echo || own.needs_echo;
  both.has_sack = both.has_sack && own.has_sack;
  both.reorder_depth = std::min(both.reorder_depth, own.reorder_depth);
  both.mtu = std::min(both.mtu, own.mtu);
  message.pairs = pairs;
  Agreement& agreement = agreement_at(reply.group);
  agreement = Agreement();
  agreement.capabilities = both;
  agreement.gap_timer = Time::from_ns(request.gap_timer_ns);
  agreement.lifetime = Time::from_us(message.lifetime_us);
  for (const CmSession& session : request.sessions) {
    agreement.paths.push_back({session.tuple.destination, session.tuple.source});
  }
  groups_.set_pending(reply.group);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    groups_.attach(reply.group, {pairs[i].number, request.pairs[i].number});
    tell_pair(reply.group, pairs[i], request.pairs[i]);
  }
}

// A session that the peer has asked for, and whose ports are taken.
bool ConnectionManager::add_accepted(CmSession session, const KeySecret& secret, Reply& reply,
                                     Time now) {
  const SessionTuple own = session.tuple.reverse();
  session.id = groups_.next_session_id(reply.group, is_higher_than(reply.peer));
  const auto slot = groups_.add(
      reply.group, session.id, own, false,
      first_keys(secret, session.id, own, Time::from_us(reply.message.lifetime_us), now), now);
  if (!slot) {
    groups_.ports().release(own, now, false);
    return false;
  }
  reply.sessions.push_back(session.id);
  reply.message.sessions.push_back(session);
  return true;
}

CmReason ConnectionManager::answer_add(const CmMessage& request, Reply& reply, Time now) {
  const SessionGroup& group = groups_.at(reply.group);
  if (group.state() != SessionGroup::State::kUp) {
    return CmReason::kNoGroup;
  }
  if (request.sessions.size() != 1) {
    return CmReason::kNoResource;
  }
  KeySecret secret;
  const CmReason reason = agree(request, reply, secret);
  if (reason != CmReason::kNone) {
    return reason;
  }
  // Both ends ask at once, and only one session fits, or both name the same: the higher address
  // wins. [HS-6]
  const SessionTuple own = request.sessions.front().tuple.reverse();
  const auto rival = std::find_if(operations_.begin(), operations_.end(), [&](const auto& one) {
    const bool is_full =
        group.sessions() + pending_sessions(reply.group) >= groups_.rules().max_sessions;
    return one->group == reply.group && one->request.kind == CmKind::kAddRequest &&
           (is_full || one->request.sessions.front().tuple == own);
  });
  if (rival != operations_.end() && !is_higher_than(reply.peer)) {
    fail(take((*rival)->request.transaction), CmReason::kBusy, now);
  } else if (group.sessions() + pending_sessions(reply.group) >= groups_.rules().max_sessions) {
    return CmReason::kNoResource;
  }
  if (!groups_.ports().take(own, now)) {
    return CmReason::kPortInUse;
  }
  return add_accepted(request.sessions.front(), secret, reply, now) ? CmReason::kNone
                                                                    : CmReason::kNoResource;
}

CmReason ConnectionManager::answer_refresh(const CmMessage& request, Reply& reply, Time now) {
  const SessionGroup& group = groups_.at(reply.group);
  const unsigned slot = group.slot_of(request.session);
  if (slot == group.slots() || !is_eligible(group.session(static_cast<SessionSlot>(slot)).state)) {
    return CmReason::kSessionGone;
  }
  const SessionPlace place{reply.group, static_cast<SessionSlot>(slot)};
  const GroupSession& session = group.session(place.session);
  if (!session.keys || request.epoch != session.keys->next_number()) {
    return CmReason::kAuth;
  }
  const Operation* const rival = own_refresh(reply.group, request.session);
  if (rival != nullptr && is_higher_than(reply.peer)) {
    return CmReason::kBusy;
  }
  KeySecret secret;
  const CmReason reason = agree(request, reply, secret);
  if (reason != CmReason::kNone) {
    return reason;
  }
  if (rival != nullptr) {
    fail(take(rival->request.transaction), CmReason::kBusy, now);
  }
  groups_.set_refreshing(place, credentials().engine == RekeyEngine::kSoftware, now);
  groups_.offer(place, epoch_of(*secret, session.id, session.tuple, request.epoch,
                                Time::from_us(reply.message.lifetime_us), now));
  reply.sessions = {session.id};
  return CmReason::kNone;
}

CmReason ConnectionManager::answer_attach(const CmMessage& request, Reply& reply) {
  const SessionGroup& group = groups_.at(reply.group);
  if (group.state() != SessionGroup::State::kUp) {
    return CmReason::kNoGroup;
  }
  CmMessage asked = request;
  asked.service = group.service();
  std::vector<CmPair> pairs;
  const CmReason reason = own_pairs(asked, reply.peer, nullptr, pairs);
  if (reason != CmReason::kNone) {
    return reason;
  }
  if (pairs.size() != 1 ||
      !groups_.attach(reply.group, {pairs[0].number, request.pairs[0].number})) {
    return CmReason::kNoResource;
  }
  reply.message.pairs = pairs;
  tell_pair(reply.group, pairs[0], request.pairs[0]);
  return CmReason::kNone;
}

CmReason ConnectionManager::answer_other(const CmMessage& request, Reply& reply, Time now) {
  const SessionGroup& group = groups_.at(reply.group);
  if (request.kind == CmKind::kDisconnectRequest) {
    close_group(reply.group, CmReason::kNone, now);
    return CmReason::kNone;
  }
  if (request.kind == CmKind::kDeleteRequest) {
    const unsigned slot = group.slot_of(request.session);
    if (slot == group.slots()) {
      return CmReason::kSessionGone;
    }
    // What the peer has sent by it is on its way, and nobody says when all of it has come: it
    // receives until its time is over. [SG-4]
    groups_.drain({reply.group, static_cast<SessionSlot>(slot)}, true, now);
    return CmReason::kNone;
  }
  const bool is_whole = request.pairs.size() == 2;  // the peer's queue pair, and ours
  const auto& pairs = group.pairs();
  if (!is_whole || std::none_of(pairs.begin(), pairs.end(), [&](const GroupPair& one) {
        const bool is_pending = one.peer == 0;  // this end has not been answered yet
        return one.own == request.pairs[1].number &&
               (is_pending || one.peer == request.pairs[0].number);
      })) {
    return CmReason::kBadQp;
  }
  groups_.detach(reply.group, request.pairs[1].number);
  if (group.pairs().empty()) {
    close_group(reply.group, CmReason::kNone, now);
  }
  return CmReason::kNone;
}

}  // namespace flitwise
