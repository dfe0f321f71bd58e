// SPDX-License-Identifier: Apache-2.0
// What time alone changes of session groups: drains, keys, and groups that are down. [SG-4] [SG-9]
// [KY-3]
#include <algorithm>

#include "srdma/session_groups.h"

namespace flitwise {
namespace {

bool may_send_by(const GroupSession& session, Time now) {
  return is_eligible(session.state) && !session.is_paused &&
         (!session.keys || session.keys->may_send(now));
}

}  // namespace

// The end that has asked for a session asks for its keys, too; the other one where that comes to
// nothing.
Time SessionGroups::deadline_of(const GroupSession& one) const {
  if (one.state == SessionState::kDraining) {
    return one.ends;
  }
  if (!one.keys) {
    return Time::never();
  }
  switch (one.state) {
    case SessionState::kActive:
      return one.is_due   ? one.keys->not_after()
             : one.is_own ? one.keys->refresh_at()
                          : one.keys->not_after() - Time{rules_.credentials.refresh_margin.fs / 2};
    case SessionState::kRefreshing: return one.keys->not_after();
    case SessionState::kExpired: return one.keys->taken_until();
    default: return Time::never();
  }
}

// Which sessions packets may leave by, whether there is one, and when that changes by itself.
void SessionGroups::settle_group(GroupSlot slot, Time now) {
  SessionGroup& group = groups_[slot];
  std::uint64_t eligible = 0, alive = 0;
  group.deadline_ = Time::never();
  for (unsigned i = 0; i < group.slots(); ++i) {
    const GroupSession& one = group.sessions_[i];
    if (may_send_by(one, now)) {
      eligible |= std::uint64_t{1} << i;
      alive |= std::uint64_t{one.is_alive} << i;
    }
    group.deadline_ = std::min(group.deadline_, deadline_of(one));
  }
  group.eligible_ = alive != 0 ? alive : eligible;
  if (group.state_ == SessionGroup::State::kUp) {
    if (group.is_down() && group.down_since_ == Time::never()) {
      group.down_since_ = now;
      tell(SessionEvent::Kind::kGroupDown, {slot, 0});
    } else if (!group.is_down() && group.down_since_ != Time::never()) {
      group.down_since_ = Time::never();
      group.has_failed_ = false;
      tell(SessionEvent::Kind::kGroupBack, {slot, 0});
    }
    if (group.is_down() && !group.has_failed_) {
      const Time span = rules_.fails_at_once ? Time{} : rules_.down_timeout;
      group.deadline_ = std::min(group.deadline_, group.down_since_ + span);
    }
  }
  deadline_ = std::min(deadline_, group.deadline_);
}

void SessionGroups::tick_session(SessionPlace place, Time now) {
  GroupSession& one = session(place);
  if (deadline_of(one) > now) {
    return;
  }
  if (one.state == SessionState::kDraining) {
    close(place, now);
  } else if (is_eligible(one.state) && now >= one.keys->not_after()) {
    one.is_paused = one.is_due = false;
    wishes_.push_back({place, one.id, true});
    move(place, SessionState::kExpired, SessionEvent::Kind::kSessionExpired, now);
  } else if (one.state == SessionState::kExpired) {
    close(place, now);
  } else {
    one.is_due = true;
    wishes_.push_back({place, one.id, false});
  }
}

void SessionGroups::tick_group(GroupSlot slot, Time now) {
  SessionGroup& group = groups_[slot];
  for (unsigned i = 0; i < group.slots(); ++i) {
    tick_session({slot, static_cast<SessionSlot>(i)}, now);
  }
  const Time span = rules_.fails_at_once ? Time{} : rules_.down_timeout;
  if (group.down_since_ != Time::never() && !group.has_failed_ && now >= group.down_since_ + span) {
    group.has_failed_ = true;
    tell(SessionEvent::Kind::kGroupFailed, {slot, 0});
  }
  settle_group(slot, now);
}

void SessionGroups::tick(Time now) {
  if (now < deadline_) {
    return;
  }
  deadline_ = Time::never();
  for (GroupSlot slot = 0; slot < slots(); ++slot) {
    if (groups_[slot].is_open_) {
      if (groups_[slot].deadline_ <= now) {
        tick_group(slot, now);
      }
      deadline_ = std::min(deadline_, groups_[slot].deadline_);
    }
  }
}

}  // namespace flitwise
