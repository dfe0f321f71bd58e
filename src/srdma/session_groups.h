// SPDX-License-Identifier: Apache-2.0
/// All session groups of a NIC: which session a packet belongs to, and their timers. [SG-2] [SG-8]
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/open_table.h"
#include "srdma/port_pairs.h"
#include "srdma/session_group.h"

namespace flitwise {

/// Calls on the way of a packet are O(1) and allocate nothing: find(), group_of(), may_send_to(),
/// send(), settle(), and SessionGroup::eligible(). Times of a run never go back.
class SessionGroups {
 public:
  SessionGroups(const SessionRules& rules, PortPairs ports);
  SessionGroups(const SessionGroups&) = delete;
  SessionGroups& operator=(const SessionGroups&) = delete;

  const SessionRules& rules() const { return rules_; }
  PortPairs& ports() { return ports_; }
  const PortPairs& ports() const { return ports_; }
  const SessionGroup& at(GroupSlot slot) const { return groups_[slot]; }
  /// Places of groups that have been used so far; not each is open.
  GroupSlot slots() const { return static_cast<GroupSlot>(groups_.size()); }
  bool is_open(GroupSlot slot) const { return slot < groups_.size() && groups_[slot].is_open_; }
  /// O(slots).
  std::optional<GroupSlot> find(std::uint32_t peer, GroupId id) const;

  /// None: there are max_groups. [SG-8]
  std::optional<GroupSlot> open(std::uint32_t peer, GroupId id, ServiceId service);
  void rename(GroupSlot slot, GroupId id) { groups_[slot].id_ = id; }
  void set_pending(GroupSlot slot) { groups_[slot].state_ = SessionGroup::State::kPending; }
  /// Its sessions are closed, its ports rest, its queue pairs are detached. [SG-7]
  void close(GroupSlot slot, Time now, CmReason reason = CmReason::kNone);

  /// False, and nothing has changed: the group has max_pairs, or the queue pair has a group. [SG-8]
  bool attach(GroupSlot slot, const GroupPair& pair);
  /// The peer of a queue pair has become known.
  void set_peer(GroupSlot slot, const GroupPair& pair);
  /// False: it is not of this group.
  bool detach(GroupSlot slot, std::uint32_t own);

  /// A session in HANDSHAKE, whose tuple this end's PortPairs has given or taken; keys: null where
  /// it is not secured. None: the group has max_sessions. [SG-8]
  std::optional<SessionSlot> add(GroupSlot slot, SessionId id, const SessionTuple& tuple,
                                 bool is_own, std::unique_ptr<KeyEpochs> keys, Time now);
  /// Sessions in HANDSHAKE become ACTIVE, and the group is up. [HS-2]
  void activate(GroupSlot slot, Time now);
  void activate(SessionPlace place, Time now);
  /// awaits_peer: it stays until the peer has agreed, or drain_timeout.
  void drain(SessionPlace place, bool awaits_peer, Time now);
  void end_wait_for_peer(SessionPlace place, Time now);
  void set_refreshing(SessionPlace place, bool is_paused, Time now);
  /// Packets leave by the key that was offered.
  void refresh(SessionPlace place, Time now);
  void offer(SessionPlace place, const KeyEpoch& next);
  void close(SessionPlace place, Time now);
  /// [MO-4]
  void set_alive(SessionPlace place, bool is_alive, Time now);
  /// Of the next session that this end names: its lowest bit says which end has. [SG-6]
  SessionId next_session_id(GroupSlot slot, bool is_higher_address);

  /// By the tuple of a packet that has come. [SG-6] Null: of no session.
  const SessionPlace* find(const SessionTuple& received) const { return places_.find(received); }
  /// Null: it is attached to none.
  const GroupSlot* group_of(std::uint32_t pair) const;
  /// Does the queue pair send to its own peer? [TX-1]
  bool may_send_to(GroupSlot slot, std::uint32_t pair, std::uint32_t destination) const;
  /// A packet leaves: it is in flight from now on. Gives its number where the session is secured,
  /// else 0. REQUIRES: the session is eligible.
  std::uint64_t send(SessionPlace place, Time now);
  /// Its owner counts packets in flight itself, and says so by settle() of one when there are none
  /// any more.
  void hold(SessionPlace place) { session(place).in_flight = 1; }
  /// So many packets are acknowledged or given up.
  void settle(SessionPlace place, std::uint32_t packets, Time now);
  /// The key by which a packet that has come is opened; null: none. See KeyEpochs::receiving().
  KeyEpoch* receiving(SessionPlace place, EpochNumber epoch, Time now);
  /// The key that packets leave by. REQUIRES: secured.
  const KeyEpoch& sending(SessionPlace place) const;

  /// When time alone changes something next: a drain, a key, or a group that is down too long.
  Time next_deadline() const { return deadline_; }
  /// Carries it out. Call it before packets are sent or taken at that time. O(groups) where the
  /// deadline has come, else O(1).
  void tick(Time now);
  /// What a session asks for when time or its packets are up.
  struct Wish {
    SessionPlace place;
    SessionId session = 0;
    bool is_expired = false;  ///< a session in its place; else a new key, asked for once
  };
  bool take_wish(Wish& wish);

  /// False: nothing more has happened.
  bool take_event(SessionEvent& event);
  void tell(const SessionEvent& event) { events_.push_back(event); }

 private:
  static std::uint64_t hash_tuple(const SessionTuple& tuple);
  static std::uint64_t hash_pair(const std::uint32_t& pair);
  struct PairOwner {
    GroupSlot group = 0;
    std::uint32_t peer = 0;
  };
  GroupSession& session(SessionPlace place) {
    return groups_[place.group].sessions_[place.session];
  }
  void tell(SessionEvent::Kind kind, SessionPlace place, CmReason reason = CmReason::kNone);
  void move(SessionPlace place, SessionState to, SessionEvent::Kind told, Time now);
  void end_if_drained(SessionPlace place, Time now);
  Time deadline_of(const GroupSession& session) const;
  void settle_group(GroupSlot slot, Time now);
  void tick_group(GroupSlot slot, Time now);
  void tick_session(SessionPlace place, Time now);

  SessionRules rules_;
  PortPairs ports_;
  std::deque<SessionGroup> groups_;
  OpenTable<SessionTuple, SessionPlace, hash_tuple> places_;  // by the tuple that is received
  OpenTable<std::uint32_t, PairOwner, hash_pair> pairs_;
  std::deque<SessionEvent> events_;
  std::deque<Wish> wishes_;
  Time deadline_ = Time::never();
  std::uint32_t open_ = 0;  // groups
};

}  // namespace flitwise
