// SPDX-License-Identifier: Apache-2.0
// Answers of this end once they are sent: those that wait for READY, and those that are kept for
// requests that come again. [HS-2] [HS-3]
#include <algorithm>
#include <utility>

#include "srdma/connection_manager.h"

namespace flitwise {

// Those that wait for READY are kept.
bool ConnectionManager::make_room_for_reply() {
  if (replies_.size() < rules_.replies) {
    return true;
  }
  const auto oldest = std::find_if(replies_.begin(), replies_.end(),
                                   [](const auto& one) { return one->due == Time::never(); });
  if (oldest == replies_.end()) {
    return false;
  }
  reply_by_key_.erase({(*oldest)->message.transaction, (*oldest)->peer});
  replies_.erase(oldest);
  return true;
}

void ConnectionManager::remember(std::unique_ptr<Reply> reply) {
  reply_by_key_[{reply->message.transaction, reply->peer}] = reply.get();
  replies_.push_back(std::move(reply));
}

ConnectionManager::Reply* ConnectionManager::reply_to_request(std::uint64_t transaction,
                                                              std::uint32_t peer) {
  Reply** const found = reply_by_key_.find({transaction, peer});
  return found == nullptr ? nullptr : *found;
}

// READY has come, or data that says the same. [HS-2]
void ConnectionManager::confirm(Reply& reply, Time now) {
  reply.due = Time::never();
  switch (reply.message.kind) {
    case CmKind::kConnectReply: {
      groups_.activate(reply.group, now);
      if (auto own = take(reply.message.superseded)) {
        finish(*own, CmReason::kNone);
      }
      break;
    }
    case CmKind::kAddReply:
      for (const SessionId session : reply.sessions) {
        if (const auto place = place_of(reply.group, session)) {
          groups_.activate(*place, now);
        }
      }
      break;
    case CmKind::kRefreshReply:
      for (const SessionId session : reply.sessions) {
        if (const auto place = place_of(reply.group, session)) {
          use_key(*place, now);
        }
      }
      break;
    default: break;
  }
  reply.sessions.clear();
}

// READY has not come. What was offered of a key stays: data that come by it confirm it.
void ConnectionManager::give_up(Reply& reply, Time now) {
  switch (reply.message.kind) {
    case CmKind::kConnectReply:
      if (auto own = take(reply.message.superseded)) {
        finish(*own, CmReason::kTimeOut);
      }
      close_group(reply.group, CmReason::kTimeOut, now);
      break;
    case CmKind::kAddReply:
      for (const SessionId session : reply.sessions) {
        if (const auto place = place_of(reply.group, session)) {
          groups_.close(*place, now);
        }
      }
      break;
    case CmKind::kAttachReply:
      groups_.detach(reply.group, reply.message.pairs.front().number);
      break;
    default: break;
  }
}

ConnectionManager::Reply* ConnectionManager::waiting_reply(CmKind kind, GroupSlot group,
                                                           SessionId session) {
  const auto one = std::find_if(replies_.begin(), replies_.end(), [&](const auto& reply) {
    return reply->message.kind == kind && reply->group == group &&
           std::find(reply->sessions.begin(), reply->sessions.end(), session) !=
               reply->sessions.end();
  });
  return one == replies_.end() ? nullptr : one->get();
}

void ConnectionManager::data_came(SessionPlace place, const KeyEpoch* epoch, Time now) {
  const SessionGroup& group = groups_.at(place.group);
  const GroupSession& session = group.session(place.session);
  Reply* reply = nullptr;
  if (session.state == SessionState::kHandshake) {
    reply = waiting_reply(
        group.state() == SessionGroup::State::kPending ? CmKind::kConnectReply : CmKind::kAddReply,
        place.group, session.id);
  } else if (epoch != nullptr && session.keys->is_offered(epoch)) {
    reply = waiting_reply(CmKind::kRefreshReply, place.group, session.id);
  }
  if (reply != nullptr) {
    confirm(*reply, now);
  }
}

}  // namespace flitwise
