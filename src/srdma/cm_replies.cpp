// SPDX-License-Identifier: Apache-2.0
// What an end does with answers to its requests. [HS-1] to [HS-6] [KY-2]
#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <utility>

#include "srdma/connection_manager.h"

namespace flitwise {

// The key of one direction of a session: its context is what all of its packets share. model: both
// directions of all sessions of an exchange come from one agreement by X25519, so that a key that
// both ends were given tells nothing about packets of the past.
KeyEpoch ConnectionManager::epoch_of(const SecretKey& secret, SessionId id,
                                     const SessionTuple& tuple, EpochNumber number, Time lifetime,
                                     Time now) const {
  const auto key_of = [&](const SessionTuple& sent) {
    return derive_key(secret, "flitwise session",
                      context_of({std::uint32_t{id} << 16 | number, sent.source, sent.destination,
                                  std::uint32_t{sent.source_port} << 16 | sent.destination_port}));
  };
  KeyEpoch epoch;
  epoch.number = number;
  epoch.not_after = now + lifetime;
  epoch.max_packets = credentials().max_packets;
  epoch.sends = key_of(tuple);
  epoch.receives = key_of(tuple.reverse());
  return epoch;
}

std::unique_ptr<KeyEpochs> ConnectionManager::first_keys(const KeySecret& secret, SessionId id,
                                                         const SessionTuple& tuple, Time lifetime,
                                                         Time now) const {
  return secret ? std::make_unique<KeyEpochs>(epoch_of(*secret, id, tuple, 0, lifetime, now),
                                              credentials())
                : nullptr;
}

// At once, or when software has got to it.
void ConnectionManager::use_key(SessionPlace place, Time now) {
  if (credentials().engine == RekeyEngine::kHardware) {
    groups_.refresh(place, now);
    return;
  }
  installs_.push_back({place.group, groups_.at(place.group).session(place.session).id,
                       now + credentials().software_delay});
  wake_by(installs_.back().due);
}

void ConnectionManager::tell_pair(GroupSlot group, const CmPair& own, const CmPair& peer) {
  groups_.set_peer(group, {own.number, peer.number});
  SessionEvent event;
  event.kind = SessionEvent::Kind::kPairReady;
  event.place.group = group;
  event.pair = own.number;
  event.peer_pair = peer.number;
  event.peer_psn = peer.psn;
  groups_.tell(event);
}

void ConnectionManager::send_ready(std::uint64_t transaction, GroupId group, std::uint32_t peer) {
  CmMessage ready;
  ready.kind = CmKind::kReady;
  ready.transaction = transaction;
  ready.group = group;
  send(ready, peer);
}

// An answer that comes again is answered by READY again, an answer to nothing by nothing.
void ConnectionManager::take_reply(const CmMessage& reply, std::uint32_t from, Time now) {
  const auto pending = std::find_if(operations_.begin(), operations_.end(), [&](const auto& one) {
    return one->request.transaction == reply.transaction && one->peer == from &&
           reply_to(one->request.kind) == reply.kind;
  });
  if (pending == operations_.end()) {
    const bool is_known =
        std::find(ready_.begin(), ready_.end(), reply.transaction) != ready_.end();
    if (is_known && reply.reason == CmReason::kNone) {
      send_ready(reply.transaction, reply.group, from);
    } else {
      ++counts_.stray;
    }
    return;
  }
  if ((*pending)->is_superseded) {
    ++counts_.stray;
    return;
  }
  if (reply.reason == CmReason::kMerged) {
    (*pending)->is_merged = true;
    (*pending)->left = std::max((*pending)->left, rules_.retries);
    return;
  }
  const std::unique_ptr<Operation> operation = take(reply.transaction);
  Operation& own = *operation;
  CmReason reason = reply.reason;
  if (reason == CmReason::kNone) {
    switch (own.request.kind) {
      case CmKind::kConnectRequest: reason = end_connect(own, reply, now); break;
      case CmKind::kAddRequest: reason = end_add(own, reply, now); break;
      case CmKind::kRefreshRequest: reason = end_refresh(own, reply, now); break;
      case CmKind::kAttachRequest: reason = end_attach(own, reply); break;
      case CmKind::kDeleteRequest: end_delete(own, now); break;
      case CmKind::kDisconnectRequest: close_group(own.group, CmReason::kNone, now); break;
      default: break;
    }
  }
  if (reason != CmReason::kNone) {
    fail(std::make_unique<Operation>(std::move(own)), reason, now);
    return;
  }
  finish(own, CmReason::kNone);
  if (needs_ready(own.request.kind)) {
    send_ready(reply.transaction, reply.group, from);
  }
}

CmReason ConnectionManager::secret_of(const Operation& operation, const CmMessage& reply,
                                      KeySecret& secret) const {
  if (!operation.keys) {
    return CmReason::kNone;
  }
  secret = operation.keys->agree(reply.share);
  return secret ? flaw_of_keys(reply) : CmReason::kAuth;
}

// Sessions that the peer has accepted, of those that were asked for; the ports of others are free
// again. [HS-5]
void ConnectionManager::add_answered(Operation& operation, const CmMessage& reply,
                                     const KeySecret& secret, Time now) {
  for (const CmSession& asked : operation.request.sessions) {
    const auto accepted =
        std::find_if(reply.sessions.begin(), reply.sessions.end(),
                     [&](const CmSession& one) { return one.tuple == asked.tuple; });
    const SessionGroup& group = groups_.at(operation.group);
    const bool is_new =
        accepted != reply.sessions.end() && group.slot_of(accepted->id) == group.slots();
    const Time lifetime = Time::from_us(reply.lifetime_us);
    const auto slot =
        is_new ? groups_.add(operation.group, accepted->id, asked.tuple, true,
                             first_keys(secret, accepted->id, asked.tuple, lifetime, now), now)
               : std::nullopt;
    if (!slot) {
      groups_.ports().release(asked.tuple, now, false);
    }
  }
  operation.request.sessions.clear();
  groups_.activate(operation.group, now);
}

bool ConnectionManager::accepts_some(const Operation& operation, const CmMessage& reply) const {
  return std::any_of(reply.sessions.begin(), reply.sessions.end(), [&](const CmSession& accepted) {
    const auto& asked = operation.request.sessions;
    return std::any_of(asked.begin(), asked.end(),
                       [&](const CmSession& one) { return one.tuple == accepted.tuple; });
  });
}

CmReason ConnectionManager::end_connect(Operation& operation, const CmMessage& reply, Time now) {
  const CmCapabilities& own = rules_.capabilities;
  const CmCapabilities& both = reply.capabilities;
  if (both.is_secured != own.is_secured || (own.needs_echo && !both.has_echo)) {
    return CmReason::kCapabilities;
  }
  const auto named = groups_.find(operation.peer, reply.group);
  if ((named && *named != operation.group) || !accepts_some(operation, reply)) {
    return CmReason::kNoResource;
  }
  if (!are_numbers(reply.pairs) || reply.pairs.size() != operation.request.pairs.size()) {
    return CmReason::kBadQp;
  }
  KeySecret secret;
  const CmReason reason = secret_of(operation, reply, secret);
  if (reason != CmReason::kNone) {
    return reason;
  }
  groups_.rename(operation.group, reply.group);
  Agreement& agreement = agreement_at(operation.group);
  agreement.capabilities = both;
  agreement.gap_timer = Time::from_ns(reply.gap_timer_ns);
  agreement.lifetime = Time::from_us(reply.lifetime_us);
  for (std::size_t i = 0; i < reply.pairs.size(); ++i) {
    tell_pair(operation.group, operation.request.pairs[i], reply.pairs[i]);
  }
  if (reply.superseded != 0) {
    merge(reply, operation.peer, now);
  }
  add_answered(operation, reply, secret, now);
  return CmReason::kNone;
}

// The peer's own request, should it still come, is answered as one that this one has won over; a
// group that was answered to it before is dropped.
void ConnectionManager::merge(const CmMessage& winner, std::uint32_t peer, Time now) {
  Reply* const known = reply_to_request(winner.superseded, peer);
  if (known != nullptr && known->due != Time::never()) {
    known->due = Time::never();
    give_up(*known, now);
  }
  if (known == nullptr && make_room_for_reply()) {
    auto reply = std::make_unique<Reply>();
    reply->peer = peer;
    reply->message.kind = CmKind::kConnectReply;
    reply->message.transaction = winner.superseded;
    reply->message.group = winner.group;
    reply->message.reason = CmReason::kMerged;
    remember(std::move(reply));
  }
}

CmReason ConnectionManager::end_add(Operation& operation, const CmMessage& reply, Time now) {
  if (!accepts_some(operation, reply)) {
    return CmReason::kNoResource;
  }
  KeySecret secret;
  const CmReason reason = secret_of(operation, reply, secret);
  if (reason == CmReason::kNone) {
    add_answered(operation, reply, secret, now);
  }
  return reason;
}

CmReason ConnectionManager::end_refresh(Operation& operation, const CmMessage& reply, Time now) {
  const SessionGroup& group = groups_.at(operation.group);
  const unsigned slot = group.slot_of(operation.session);
  if (slot == group.slots() || !is_eligible(group.session(static_cast<SessionSlot>(slot)).state)) {
    return CmReason::kSessionGone;
  }
  KeySecret secret;
  const CmReason reason = secret_of(operation, reply, secret);
  if (reason == CmReason::kNone) {
    const SessionPlace place{operation.group, static_cast<SessionSlot>(slot)};
    groups_.offer(place, epoch_of(*secret, operation.session, group.session(place.session).tuple,
                                  operation.request.epoch, Time::from_us(reply.lifetime_us), now));
    use_key(place, now);
  }
  return reason;
}

CmReason ConnectionManager::end_attach(Operation& operation, const CmMessage& reply) {
  const GroupSlot* const group = groups_.group_of(operation.request.pairs.front().number);
  if (!are_numbers(reply.pairs) || reply.pairs.size() != 1 || group == nullptr ||
      *group != operation.group) {
    return CmReason::kBadQp;
  }
  tell_pair(operation.group, operation.request.pairs.front(), reply.pairs.front());
  return CmReason::kNone;
}

void ConnectionManager::take_timer(const CmMessage& message, std::uint32_t from) {
  const auto slot = groups_.find(from, message.group);
  if (!slot || message.transaction <= agreement_at(*slot).timer) {
    return;
  }
  Agreement& agreement = agreement_at(*slot);
  agreement.timer = message.transaction;
  agreement.gap_timer = Time::from_ns(message.gap_timer_ns);
  SessionEvent event;
  event.kind = SessionEvent::Kind::kGapTimer;
  event.place.group = *slot;
  event.span = agreement.gap_timer;
  groups_.tell(event);
}

}  // namespace flitwise
