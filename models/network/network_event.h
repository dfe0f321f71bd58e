// SPDX-License-Identifier: Apache-2.0
/// What happens in a network in time, as its queue of events has it.
#pragma once

#include <cstdint>

#include "network/event_queue.h"

namespace flitwise {

/// Events of a network: what happens in the high bits, where in the low ones.
enum class NetworkEvent : std::uint8_t {
  kArrival,   ///< the first packet on a port has come to its end
  kWireFree,  ///< a port that may be paused has got rid of a packet
  kPause,     ///< such a port hears that it has to stop, or that it may go on
  kResume,
  kSend,   ///< a host may send
  kTimer,  ///< of one end of a connection
  kFlow,   ///< flows start
  kFault,  ///< of a link
  kBackground,
  kSessions  ///< of the session groups of a host
};
constexpr EventQueue::What event_of(NetworkEvent event, std::uint32_t where) {
  return static_cast<std::uint32_t>(event) << 28 | where;
}
constexpr NetworkEvent kind_of(EventQueue::What event) {
  return static_cast<NetworkEvent>(event >> 28);
}
constexpr std::uint32_t place_of(EventQueue::What event) {
  return event & ((1U << 28) - 1);
}

}  // namespace flitwise
