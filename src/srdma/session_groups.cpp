// SPDX-License-Identifier: Apache-2.0
#include "srdma/session_groups.h"

#include <algorithm>
#include <utility>

#include "flitwise/error.h"

namespace flitwise {
namespace {}  // namespace

std::uint64_t SessionGroups::hash_tuple(const SessionTuple& tuple) {
  const std::uint64_t addresses = std::uint64_t{tuple.source} << 32 | tuple.destination;
  const std::uint64_t ports = std::uint64_t{tuple.source_port} << 16 | tuple.destination_port;
  const std::uint64_t sum = (addresses ^ addresses >> 29) * kGoldenSpread + ports;
  return (sum ^ sum >> 32) * kGoldenSpread;
}
std::uint64_t SessionGroups::hash_pair(const std::uint32_t& pair) {
  return pair * kGoldenSpread;
}

SessionGroups::SessionGroups(const SessionRules& rules, PortPairs ports)
    : rules_(rules), ports_(std::move(ports)) {
  FLITWISE_CHECK(rules_.max_sessions <= kMostGroupSessions, "sessions of a group");
}

void SessionGroups::tell(SessionEvent::Kind kind, SessionPlace place, CmReason reason) {
  SessionEvent event;
  event.kind = kind;
  event.place = place;
  const SessionGroup& group = groups_[place.group];
  event.session = place.session < group.slots() ? group.session(place.session).id : SessionId{0};
  event.reason = reason;
  events_.push_back(event);
}

bool SessionGroups::take_event(SessionEvent& event) {
  if (events_.empty()) {
    return false;
  }
  event = events_.front();
  events_.pop_front();
  return true;
}

bool SessionGroups::take_wish(Wish& wish) {
  while (!wishes_.empty()) {
    wish = wishes_.front();
    wishes_.pop_front();
    if (session(wish.place).id == wish.session && (wish.is_expired || session(wish.place).is_due)) {
      return true;
    }
  }
  return false;
}

std::optional<GroupSlot> SessionGroups::find(std::uint32_t peer, GroupId id) const {
  for (GroupSlot slot = 0; slot < slots(); ++slot) {
    const SessionGroup& group = groups_[slot];
    if (group.is_open_ && group.peer_ == peer && group.id_ == id) {
      return slot;
    }
  }
  return std::nullopt;
}

std::optional<GroupSlot> SessionGroups::open(std::uint32_t peer, GroupId id, ServiceId service) {
  if (open_ == rules_.max_groups) {
    return std::nullopt;
  }
  GroupSlot slot = 0;
  while (slot < slots() && groups_[slot].is_open_) {
    ++slot;
  }
  if (slot == slots()) {
    groups_.emplace_back();
  }
  SessionGroup& group = groups_[slot];
  group = SessionGroup();
  group.peer_ = peer;
  group.id_ = id;
  group.service_ = service;
  group.is_open_ = true;
  ++open_;
  return slot;
}

void SessionGroups::close(GroupSlot slot, Time now, CmReason reason) {
  SessionGroup& group = groups_[slot];
  group.state_ = SessionGroup::State::kReserved;  // it is not down, it goes
  for (unsigned i = 0; i < group.slots(); ++i) {
    if (group.sessions_[i].state != SessionState::kClosed) {
      close(SessionPlace{slot, static_cast<SessionSlot>(i)}, now);
    }
  }
  while (!group.pairs_.empty()) {
    detach(slot, group.pairs_.back().own);
  }
  wishes_.erase(std::remove_if(wishes_.begin(), wishes_.end(),
                               [slot](const Wish& one) { return one.place.group == slot; }),
                wishes_.end());
  tell(SessionEvent::Kind::kGroupClosed, {slot, 0}, reason);
  group.is_open_ = false;
  group.deadline_ = Time::never();
  --open_;
}

bool SessionGroups::attach(GroupSlot slot, const GroupPair& pair) {
  SessionGroup& group = groups_[slot];
  if (group.pairs_.size() >= rules_.max_pairs || pairs_.find(pair.own) != nullptr) {
    return false;
  }
  group.pairs_.push_back(pair);
  pairs_[pair.own] = {slot, pair.peer};
  return true;
}

void SessionGroups::set_peer(GroupSlot slot, const GroupPair& pair) {
  for (GroupPair& one : groups_[slot].pairs_) {
    if (one.own == pair.own) {
      one.peer = pair.peer;
      pairs_[pair.own].peer = pair.peer;
    }
  }
}

bool SessionGroups::detach(GroupSlot slot, std::uint32_t own) {
  std::vector<GroupPair>& pairs = groups_[slot].pairs_;
  const auto one =
      std::find_if(pairs.begin(), pairs.end(), [own](const auto& pair) { return pair.own == own; });
  if (one == pairs.end()) {
    return false;
  }
  SessionEvent event;
  event.kind = SessionEvent::Kind::kPairDetached;
  event.place.group = slot;
  event.pair = own;
  event.peer_pair = one->peer;
  events_.push_back(event);
  pairs.erase(one);
  pairs_.erase(own);
  return true;
}

const GroupSlot* SessionGroups::group_of(std::uint32_t pair) const {
  const PairOwner* const owner = pairs_.find(pair);
  return owner == nullptr ? nullptr : &owner->group;
}

bool SessionGroups::may_send_to(GroupSlot slot, std::uint32_t pair,
                                std::uint32_t destination) const {
  const PairOwner* const owner = pairs_.find(pair);
  return owner != nullptr && owner->group == slot && owner->peer == destination;
}

SessionId SessionGroups::next_session_id(GroupSlot slot, bool is_higher_address) {
  SessionGroup& group = groups_[slot];
  for (;;) {
    const auto id = static_cast<SessionId>(group.next_id_ << 1 | (is_higher_address ? 1 : 0));
    ++group.next_id_;
    if (group.slot_of(id) == group.slots()) {
      return id;
    }
  }
}

std::optional<SessionSlot> SessionGroups::add(GroupSlot slot, SessionId id,
                                              const SessionTuple& tuple, bool is_own,
                                              std::unique_ptr<KeyEpochs> keys, Time now) {
  SessionGroup& group = groups_[slot];
  std::vector<GroupSession>& all = group.sessions_;
  const auto free = std::find_if(
      all.begin(), all.end(), [](const auto& one) { return one.state == SessionState::kClosed; });
  if (group.sessions() >= rules_.max_sessions ||
      (free == all.end() && all.size() == kMostGroupSessions)) {
    return std::nullopt;
  }
  GroupSession& session = free == all.end() ? all.emplace_back() : *free;
  session = GroupSession();
  session.id = id;
  session.tuple = tuple;
  session.is_own = is_own;
  session.keys = std::move(keys);
  session.created = now;
  session.state = SessionState::kHandshake;
  const auto place = static_cast<SessionSlot>(&session - all.data());
  places_[tuple.reverse()] = {slot, place};
  settle_group(slot, now);
  return place;
}

void SessionGroups::move(SessionPlace place, SessionState to, SessionEvent::Kind told, Time now) {
  session(place).state = to;
  tell(told, place);
  settle_group(place.group, now);
}

void SessionGroups::activate(SessionPlace place, Time now) {
  if (session(place).state != SessionState::kHandshake) {
    return;
  }
  SessionGroup& group = groups_[place.group];
  if (std::exchange(group.state_, SessionGroup::State::kUp) != SessionGroup::State::kUp) {
    tell(SessionEvent::Kind::kGroupUp, {place.group, 0});
  }
  move(place, SessionState::kActive, SessionEvent::Kind::kSessionUp, now);
}

void SessionGroups::activate(GroupSlot slot, Time now) {
  for (unsigned i = 0; i < groups_[slot].slots(); ++i) {
    activate(SessionPlace{slot, static_cast<SessionSlot>(i)}, now);
  }
}

void SessionGroups::drain(SessionPlace place, bool awaits_peer, Time now) {
  GroupSession& one = session(place);
  if (one.state == SessionState::kDraining || one.state == SessionState::kClosed) {
    return;
  }
  one.awaits_peer = awaits_peer;
  one.ends = now + rules_.drain_timeout;
  move(place, SessionState::kDraining, SessionEvent::Kind::kSessionDraining, now);
  end_if_drained(place, now);
}

void SessionGroups::end_wait_for_peer(SessionPlace place, Time now) {
  session(place).awaits_peer = false;
  end_if_drained(place, now);
}

void SessionGroups::end_if_drained(SessionPlace place, Time now) {
  const GroupSession& one = session(place);
  if (one.state == SessionState::kDraining && one.in_flight == 0 && !one.awaits_peer) {
    close(place, now);
  }
}

void SessionGroups::set_refreshing(SessionPlace place, bool is_paused, Time now) {
  GroupSession& one = session(place);
  if (!is_eligible(one.state)) {
    return;
  }
  one.is_due = false;
  one.is_paused = is_paused;
  if (one.state == SessionState::kActive) {
    move(place, SessionState::kRefreshing, SessionEvent::Kind::kRefreshing, now);
  } else {
    settle_group(place.group, now);
  }
}

void SessionGroups::offer(SessionPlace place, const KeyEpoch& next) {
  session(place).keys->offer(next);
}

void SessionGroups::refresh(SessionPlace place, Time now) {
  GroupSession& one = session(place);
  if (!one.keys || !one.keys->has_offer() || !is_eligible(one.state)) {
    return;
  }
  one.keys->use_offered();
  one.is_due = one.is_paused = false;
  move(place, SessionState::kActive, SessionEvent::Kind::kRefreshed, now);
}

void SessionGroups::close(SessionPlace place, Time now) {
  GroupSession& one = session(place);
  if (one.state == SessionState::kClosed) {
    return;
  }
  places_.erase(one.tuple.reverse());
  ports_.release(one.tuple, now, true);
  one.keys.reset();
  one.is_due = false;
  move(place, SessionState::kClosed, SessionEvent::Kind::kSessionClosed, now);
}

void SessionGroups::set_alive(SessionPlace place, bool is_alive, Time now) {
  if (std::exchange(session(place).is_alive, is_alive) != is_alive) {
    settle_group(place.group, now);
  }
}

std::uint64_t SessionGroups::send(SessionPlace place, Time now) {
  GroupSession& one = session(place);
  ++one.in_flight;
  if (!one.keys) {
    return 0;
  }
  const std::uint64_t number = one.keys->take_number();
  if (one.state == SessionState::kActive && !one.is_due && one.keys->is_refresh_due(now)) {
    one.is_due = true;
    wishes_.push_back({place, one.id, false});
    deadline_ = std::min(deadline_, now);
  }
  if (!one.keys->may_send(now)) {
    settle_group(place.group, now);
  }
  return number;
}

void SessionGroups::settle(SessionPlace place, std::uint32_t packets, Time now) {
  GroupSession& one = session(place);
  one.in_flight -= std::min(packets, one.in_flight);
  if (one.in_flight == 0) {
    end_if_drained(place, now);
  }
}

KeyEpoch* SessionGroups::receiving(SessionPlace place, EpochNumber epoch, Time now) {
  const GroupSession& one = session(place);
  return one.keys ? one.keys->receiving(epoch, now) : nullptr;
}

const KeyEpoch& SessionGroups::sending(SessionPlace place) const {
  return groups_[place.group].session(place.session).keys->current();
}

}  // namespace flitwise
