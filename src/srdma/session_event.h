// SPDX-License-Identifier: Apache-2.0
/// What the owner of session groups is told, in the order in which it has happened.
#pragma once

#include <cstdint>

#include "common/ranges.h"
#include "flitwise/time.h"
#include "srdma/session.h"

namespace flitwise {

/// Place of a group among those of its NIC; used again once the group is closed.
using GroupSlot = std::uint32_t;
/// Place of a session in its group, 0..63; used again once the session is closed.
using SessionSlot = std::uint8_t;
struct SessionPlace {
  GroupSlot group = 0;
  SessionSlot session = 0;

  friend constexpr bool operator==(SessionPlace a, SessionPlace b) {
    return a.group == b.group && a.session == b.session;
  }
};

/// Why a request is refused, as the wire has it; [HS-4], and those from kNoGroup on are ours.
enum class CmReason : std::uint8_t {
  kNone,
  kNoPort,
  kPortInUse,
  kNoResource,
  kBadQp,
  kCapabilities,
  kAuth,
  kNoGroup,      ///< the answerer has no such group [HS-C8]
  kSessionGone,  ///< or no such session of it
  kMerged,       ///< no refusal: both asked at once, and the answerer's request is the one [HS-6]
  kBusy,         ///< likewise for one session: wait for the answerer's own request
  kTimeOut       ///< nothing came back; never on the wire
};
inline constexpr int kCmReasons = 12;
constexpr const char* name_of(CmReason reason) {
  constexpr const char* kNames[] = {"none",       "NO_PORT",      "PORT_IN_USE", "NO_RESOURCE",
                                    "BAD_QP",     "CAP_MISMATCH", "AUTH",        "NO_SG",
                                    "NO_SESSION", "MERGED",       "BUSY",        "TIMEOUT"};
  return name_in(kNames, reason);
}

struct SessionEvent {
  enum class Kind : std::uint8_t {
    kGroupUp,          ///< packets of its queue pairs may leave
    kGroupDown,        ///< no session is eligible: packets wait [SG-9]
    kGroupBack,        ///< one is again
    kGroupFailed,      ///< down for down_timeout: queue pairs go to ERR with RETRY_EXC [SG-9]
    kGroupClosed,      ///< for good; its slot is free
    kSessionUp,        ///< eligible for the first time
    kSessionDraining,  ///< no new packets [SG-4]
    kSessionExpired,   ///< what it has in flight is to be sent again at once [KY-4]
    kSessionClosed,    ///< for good; its slot is free
    kRefreshing,       ///< a new key is asked for
    kRefreshed,        ///< packets leave by the new key
    kPairReady,        ///< a queue pair is attached, and its peer known [HS-3]
    kPairDetached,
    kGapTimer,  ///< the peer advertises another one, in `span` [RX-3]
    kDone,      ///< the operation `ticket` has succeeded
    kFailed     ///< it has not, for `reason`
  };
  Kind kind = Kind::kDone;
  SessionPlace place{};  ///< `session` where a session is meant
  SessionId session = 0;
  CmReason reason = CmReason::kNone;
  std::uint64_t ticket = 0;
  std::uint32_t pair = 0, peer_pair = 0;  ///< numbers of queue pairs
  std::uint32_t peer_psn = 0;             ///< the first one that the peer sends [PS-4]
  Time span{};
};
constexpr const char* name_of(SessionEvent::Kind kind) {
  constexpr const char* kNames[] = {
      "group_up",   "group_down",       "group_back",      "group_failed",   "group_closed",
      "session_up", "session_draining", "session_expired", "session_closed", "refreshing",
      "refreshed",  "pair_ready",       "pair_detached",   "gap_timer",      "done",
      "failed"};
  return name_in(kNames, kind);
}

}  // namespace flitwise
