// SPDX-License-Identifier: Apache-2.0
/// A session group: sessions that carry the packets of its queue pairs. [SG-4] [SG-7] [SG-9]
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "flitwise/time.h"
#include "srdma/key_epochs.h"
#include "srdma/session.h"
#include "srdma/session_event.h"

namespace flitwise {

/// Agreed on in the handshake; the same at both ends, and unique between them.
using GroupId = std::uint32_t;
using ServiceId = std::uint64_t;

inline constexpr unsigned kMostGroupSessions = 64;

struct SessionRules {
  std::uint32_t max_groups = 1024;               ///< of a NIC [SG-8]
  unsigned min_sessions = 1, max_sessions = 64;  ///< of a group, up to kMostGroupSessions
  std::uint32_t max_pairs = 256;                 ///< queue pairs of a group [SG-8]
  Time drain_timeout = Time::from_us(2'000);     ///< [SG-4]
  Time down_timeout = Time::from_us(10'000);     ///< [SG-9]
  bool fails_at_once = false;                    ///< on_down: queue pairs fail rather than stall
  CredentialRules credentials;
};

/// One that is not there is kClosed.
struct GroupSession {
  SessionId id = 0;
  SessionState state = SessionState::kClosed;
  bool is_alive = true;         ///< [MO-4]
  bool is_own = false;          ///< this end has asked for it
  bool awaits_peer = false;     ///< it drains, and the peer has not agreed yet
  bool is_paused = false;       ///< software changes its key
  bool is_due = false;          ///< has been told to change its key
  SessionTuple tuple;           ///< of packets that leave here
  std::uint32_t in_flight = 0;  ///< packets
  Time created{};
  Time ends = Time::never();        ///< kDraining: at the latest
  std::unique_ptr<KeyEpochs> keys;  ///< null: not secured
};

struct GroupPair {
  std::uint32_t own = 0, peer = 0;  ///< numbers of queue pairs; 0: the peer's is not known yet
};

/// Only its SessionGroups changes it. Questions are O(1) where nothing else is said.
class SessionGroup {
 public:
  enum class State : std::uint8_t {
    kReserved,  ///< asked for; no session yet
    kPending,   ///< the peer has been answered, and has not said that it knows [HS-2]
    kUp
  };
  GroupId id() const { return id_; }
  ServiceId service() const { return service_; }
  /// Address of the other end's control messages.
  std::uint32_t peer() const { return peer_; }
  State state() const { return state_; }

  /// Bit s: new packets may leave by the session in slot s. Those that are not alive count only
  /// where no other one is left. [SG-4]
  std::uint64_t eligible() const { return eligible_; }
  /// No session is eligible: packets wait. [SG-9]
  bool is_down() const { return eligible_ == 0; }
  /// It has been down for down_timeout, and is still.
  bool has_failed() const { return has_failed_; }
  const GroupSession& session(SessionSlot slot) const { return sessions_[slot]; }
  /// Slots that have been used so far: 0 up to this.
  unsigned slots() const { return static_cast<unsigned>(sessions_.size()); }
  unsigned eligible_sessions() const {
    return static_cast<unsigned>(__builtin_popcountll(eligible_));
  }
  /// Sessions that carry packets or are about to: neither draining, expired nor closed. O(slots).
  unsigned sessions() const;
  /// Slot of the session with this id; slots(): none. O(slots).
  unsigned slot_of(SessionId id) const;
  const std::vector<GroupPair>& pairs() const { return pairs_; }

 private:
  friend class SessionGroups;

  GroupId id_ = 0;
  ServiceId service_ = 0;
  std::uint32_t peer_ = 0;
  State state_ = State::kReserved;
  bool is_open_ = false, has_failed_ = false;
  std::uint64_t eligible_ = 0;
  Time down_since_ = Time::never();
  Time deadline_ = Time::never();  // of its own timers
  std::vector<GroupSession> sessions_;
  std::vector<GroupPair> pairs_;
  SessionId next_id_ = 0;
};

}  // namespace flitwise
