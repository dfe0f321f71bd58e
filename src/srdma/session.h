// SPDX-License-Identifier: Apache-2.0
/// A session: one way between two ends of a session group, as its UDP 5-tuple. [SG-1]
#pragma once

#include <cstdint>

#include "common/ranges.h"

namespace flitwise {

/// Agreed on in the handshake; the same at both ends. [SG-6]
using SessionId = std::uint16_t;

/// The protocol is UDP. Packets of a session carry it, those of the peer carry reverse().
struct SessionTuple {
  std::uint32_t source = 0, destination = 0;  ///< IPv4 addresses
  std::uint16_t source_port = 0, destination_port = 0;

  /// [SG-6]
  constexpr SessionTuple reverse() const {
    return {destination, source, destination_port, source_port};
  }
  friend constexpr bool operator==(const SessionTuple& a, const SessionTuple& b) {
    return a.source == b.source && a.destination == b.destination &&
           a.source_port == b.source_port && a.destination_port == b.destination_port;
  }
};

/// [SG-4] [KY-3]
enum class SessionState : std::uint8_t {
  kIdle,
  kHandshake,
  kActive,
  kRefreshing,
  kDraining,
  kExpired,
  kClosed
};
constexpr const char* name_of(SessionState state) {
  constexpr const char* kNames[] = {"idle",     "handshake", "active", "refreshing",
                                    "draining", "expired",   "closed"};
  return name_in(kNames, state);
}
/// May new packets leave by it? [SG-4]
constexpr bool is_eligible(SessionState state) {
  return state == SessionState::kActive || state == SessionState::kRefreshing;
}

/// How congested a session is, each from 0 (not at all) to 1: the level is absolute, the weight
/// steers the choice and may be relative to other sessions. [6.3]
struct SessionScore {
  double level = 0, weight = 0;
};

}  // namespace flitwise
