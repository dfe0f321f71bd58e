// SPDX-License-Identifier: Apache-2.0
/// The sockets between ports and links: our own protocol types on standard TLM-2.0 sockets.
///
/// Forward call: BEGIN_REQ hands a packet over. TLM_COMPLETED: taken. TLM_ACCEPTED: refused for
/// now; the callee calls back with END_REQ as soon as there is room, and the caller tries again.
/// Towards a link: TLM_UPDATED means taken, and the next of its class would be refused; END_REQ
/// follows here as well.
/// Towards a port: TLM_COMPLETED means the receive buffer is free again (its credits return);
/// TLM_UPDATED means the port holds the buffer and calls back with END_RESP and the same packet
/// when it has let go. Delay is zero towards a port; towards a link it is the time until the packet
/// is there.
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include <cstring>

#include "flitwise/packet.h"

namespace flitwise {

struct LinkTypes {
  using tlm_payload_type = Packet;
  using tlm_phase_type = tlm::tlm_phase;
};
template <class Module>
using LinkTarget = tlm_utils::passthrough_target_socket_tagged<Module, 32, LinkTypes>;
template <class Module>
using LinkInitiator = tlm_utils::simple_initiator_socket_tagged<Module, 32, LinkTypes>;

/// The kernel's time is one number, in units of its resolution, which is 1 fs here. Its own
/// function for this asks for the resolution first, which each packet would pay several times.
inline sc_core::sc_time to_sc_time(Time t) {
  static_assert(sizeof(sc_core::sc_time) == sizeof(t.fs));
  sc_core::sc_time time;
  std::memcpy(static_cast<void*>(&time), &t.fs, sizeof time);
  return time;
}
inline Time now() {
  return {static_cast<std::int64_t>(sc_core::sc_get_curr_simcontext()->time_stamp().value())};
}
/// Has the link taken the packet?
inline bool is_taken(tlm::tlm_sync_enum answer) {
  return answer != tlm::TLM_ACCEPTED;
}

/// Hands a packet to a link, which may begin with it at `ready`; false: refused for now.
template <class Socket>
bool hand_over(Socket& to_link, Packet& packet, Time ready) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  const Time t = now();
  sc_core::sc_time delay = ready > t ? to_sc_time(ready - t) : sc_core::SC_ZERO_TIME;
  return is_taken(to_link->nb_transport_fw(packet, phase, delay));
}

}  // namespace flitwise
