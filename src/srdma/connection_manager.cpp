// SPDX-License-Identifier: Apache-2.0
// What comes in and goes out of an end, how its requests end, and what time brings. [HS-4] [KY-2]
#include "srdma/connection_manager.h"

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

constexpr std::size_t kRememberedReady = 1024;

}  // namespace

std::uint64_t ConnectionManager::hash_reply(const ReplyKey& key) {
  return (key.transaction * kGoldenSpread + key.peer) * kGoldenSpread;
}

ConnectionManager::ConnectionManager(const CmRules& rules, SessionGroups& groups,
                                     KeyedStream random)
    : rules_(rules), groups_(groups), random_(std::move(random)) {
  rules_.capabilities.is_secured = credentials().is_secured;
}

void ConnectionManager::listen(ServiceId service, Accept accept) {
  services_.push_back({service, std::move(accept)});
}

void ConnectionManager::send(const CmMessage& message, std::uint32_t peer) {
  outgoing_.push_back({message, peer});
  ++counts_.sent;
}

bool ConnectionManager::take_message(Outgoing& out) {
  if (outgoing_.empty()) {
    return false;
  }
  out = std::move(outgoing_.front());
  outgoing_.pop_front();
  return true;
}

std::optional<SessionPlace> ConnectionManager::place_of(GroupSlot group, SessionId session) const {
  const unsigned slot = groups_.at(group).slot_of(session);
  return slot == groups_.at(group).slots()
             ? std::nullopt
             : std::optional(SessionPlace{group, static_cast<SessionSlot>(slot)});
}

ConnectionManager::Agreement& ConnectionManager::agreement_at(GroupSlot slot) {
  if (agreements_.size() <= slot) {
    agreements_.resize(slot + 1);
  }
  return agreements_[slot];
}

std::unique_ptr<ConnectionManager::Operation> ConnectionManager::take(std::uint64_t transaction) {
  const auto one = std::find_if(
      operations_.begin(), operations_.end(),
      [transaction](const auto& own) { return own->request.transaction == transaction; });
  if (one == operations_.end()) {
    return nullptr;
  }
  std::unique_ptr<Operation> taken = std::move(*one);
  operations_.erase(one);
  return taken;
}

void ConnectionManager::finish(const Operation& operation, CmReason reason) {
  if (!operation.is_internal) {
    SessionEvent event;
    event.kind =
        reason == CmReason::kNone ? SessionEvent::Kind::kDone : SessionEvent::Kind::kFailed;
    event.place.group = operation.group;
    event.ticket = operation.request.transaction;
    event.reason = reason;
    groups_.tell(event);
  }
  counts_.failed += reason == CmReason::kNone ? 0 : 1;
  if (reason == CmReason::kNone && !operation.is_superseded &&
      needs_ready(operation.request.kind)) {
    if (ready_.size() == kRememberedReady) {
      ready_.pop_front();
    }
    ready_.push_back(operation.request.transaction);
  }
}

// What the request had taken is given back. A key is asked for again while there is time.
void ConnectionManager::fail(std::unique_ptr<Operation> operation, CmReason reason, Time now) {
  const GroupSlot slot = operation->group;
  const CmMessage& request = operation->request;
  finish(*operation, reason);
  if (reason == CmReason::kNoGroup && request.kind != CmKind::kConnectRequest &&
      groups_.find(operation->peer, request.group) == slot) {
    release_ports(*operation, now);
    close_group(slot, reason, now);
    return;
  }
  switch (request.kind) {
    case CmKind::kConnectRequest:
      release_ports(*operation, now);
      close_group(slot, reason, now);
      break;
    case CmKind::kAddRequest:
      release_ports(*operation, now);
      if (operation->is_internal && reason == CmReason::kTimeOut) {
        add_missing(slot, now);
      } else if (operation->is_internal) {
        wait_for_missing(slot, now);
      }
      break;
    case CmKind::kDeleteRequest: end_delete(*operation, now); break;
    case CmKind::kRefreshRequest: {
      const SessionGroup& group = groups_.at(slot);
      const unsigned session = group.slot_of(operation->session);
      if (session < group.slots()) {
        const SessionPlace place{slot, static_cast<SessionSlot>(session)};
        if (reason == CmReason::kTimeOut) {
          refresh(place, true, now);
        } else if (reason != CmReason::kBusy) {
          groups_.set_refreshing(place, false, now);
        }
      }
      break;
    }
    case CmKind::kAttachRequest: groups_.detach(slot, request.pairs.front().number); break;
    case CmKind::kDisconnectRequest: close_group(slot, reason, now); break;
    default: break;
  }
}

void ConnectionManager::release_ports(const Operation& operation, Time now) {
  for (const CmSession& session : operation.request.sessions) {
    groups_.ports().release(session.tuple, now, false);
  }
}

void ConnectionManager::end_delete(const Operation& operation, Time now) {
  const SessionGroup& group = groups_.at(operation.group);
  const unsigned session = group.slot_of(operation.session);
  if (groups_.is_open(operation.group) && session < group.slots()) {
    groups_.end_wait_for_peer({operation.group, static_cast<SessionSlot>(session)}, now);
  }
}

// What is still asked for in its name comes to nothing.
void ConnectionManager::close_group(GroupSlot slot, CmReason reason, Time now) {
  if (!groups_.is_open(slot)) {
    return;
  }
  for (const auto& reply : replies_) {
    if (reply->group == slot) {
      reply->due = Time::never();
      reply->sessions.clear();
    }
  }
  Operations ended;
  for (auto& one : operations_) {
    if (one->group == slot && one->request.kind != CmKind::kDetachRequest) {
      ended.push_back(std::move(one));
    }
  }
  operations_.erase(std::remove(operations_.begin(), operations_.end(), nullptr),
                    operations_.end());
  const auto is_of_group = [slot](const auto& one) { return one.group == slot; };
  installs_.erase(std::remove_if(installs_.begin(), installs_.end(), is_of_group), installs_.end());
  shortages_.erase(std::remove_if(shortages_.begin(), shortages_.end(), is_of_group),
                   shortages_.end());
  for (const auto& one : ended) {
    release_ports(*one, now);
    const bool is_done = one->request.kind == CmKind::kDisconnectRequest;
    finish(*one, is_done                     ? CmReason::kNone
                 : reason == CmReason::kNone ? CmReason::kNoGroup
                                             : reason);
  }
  groups_.close(slot, now, reason);
}

Time ConnectionManager::next_deadline() const {
  return std::min(wake_, groups_.next_deadline());
}

void ConnectionManager::tick(Time now) {
  groups_.tick(now);
  SessionGroups::Wish wish;
  while (groups_.take_wish(wish)) {
    if (wish.is_expired) {
      replace(wish.place, now);
    } else {
      refresh(wish.place, true, now);
      ++counts_.refreshes;
    }
  }
  if (now < wake_) {
    return;
  }
  wake_ = Time::never();
  tick_operations(now);
  tick_replies(now);
  for (std::size_t i = 0; i < installs_.size();) {
    const Install one = installs_[i];
    if (one.due > now) {
      wake_by(one.due);
      ++i;
      continue;
    }
    installs_.erase(installs_.begin() + static_cast<std::ptrdiff_t>(i));
    if (const auto place = place_of(one.group, one.session)) {
      groups_.refresh(*place, now);
    }
  }
  for (std::size_t i = shortages_.size(); i-- > 0;) {
    const Shortage one = shortages_[i];
    if (one.due > now) {
      wake_by(one.due);
    } else {
      shortages_.erase(shortages_.begin() + static_cast<std::ptrdiff_t>(i));
      add_missing(one.group, now);
    }
  }
}

void ConnectionManager::tick_operations(Time now) {
  std::vector<std::uint64_t> over;
  for (const auto& one : operations_) {
    if (one->due <= now && one->left == 0) {
      over.push_back(one->request.transaction);
    } else if (one->due <= now) {
      --one->left;
      one->due = now + rules_.timeout;
      if (!one->is_merged) {
        ++counts_.resent;
        send(one->request, one->peer);
      }
    }
    wake_by(one->due);
  }
  for (const std::uint64_t transaction : over) {
    if (auto one = take(transaction)) {
      fail(std::move(one), CmReason::kTimeOut, now);
    }
  }
}

void ConnectionManager::tick_replies(Time now) {
  for (std::size_t i = 0; i < replies_.size(); ++i) {
    Reply& one = *replies_[i];
    if (one.due > now) {
      wake_by(one.due);
    } else if (one.left == 0) {
      one.due = Time::never();
      give_up(one, now);
    } else {
      --one.left;
      one.due = now + rules_.timeout;
      wake_by(one.due);
      ++counts_.resent;
      send(one.message, one.peer);
    }
  }
}

// The end that had asked for a session asks for the one in its place. [KY-3]
void ConnectionManager::replace(SessionPlace expired, Time now) {
  const SessionGroup& group = groups_.at(expired.group);
  const bool is_short =
      group.sessions() + pending_sessions(expired.group) < groups_.rules().min_sessions;
  if (group.session(expired.session).is_own && (credentials().replaces_on_expiry || is_short)) {
    ++counts_.replacements;
    if (add_session(expired.group, true, now).id == 0) {
      wait_for_missing(expired.group, now);
    }
  }
}

void ConnectionManager::add_missing(GroupSlot slot, Time now) {
  const SessionGroup& group = groups_.at(slot);
  if (groups_.is_open(slot) && !group.has_failed() &&
      group.eligible_sessions() + pending_sessions(slot) < groups_.rules().min_sessions &&
      add_session(slot, true, now).id == 0) {
    wait_for_missing(slot, now);
  }
}

// One that is refused is asked for again when one without an answer would be. [HS-4]
void ConnectionManager::wait_for_missing(GroupSlot slot, Time now) {
  shortages_.push_back({slot, now + Time{rules_.timeout.fs * (rules_.retries + 1)}});
  wake_by(shortages_.back().due);
}

void ConnectionManager::receive(const CmMessage& message, std::uint32_t from, Time now) {
  if (message.kind == CmKind::kReady) {
    Reply* const reply = reply_to_request(message.transaction, from);
    if (reply != nullptr && reply->due != Time::never()) {
      confirm(*reply, now);
    }
  } else if (message.kind == CmKind::kTimer) {
    take_timer(message, from);
  } else if (is_reply(message.kind)) {
    take_reply(message, from, now);
  } else if (Reply* const known = reply_to_request(message.transaction, from)) {
    ++counts_.repeated;
    send(known->message, from);
  } else {
    answer(message, from, now);
  }
}

}  // namespace flitwise
