// SPDX-License-Identifier: Apache-2.0
/// A port that sends what it is told, notes what it gets, and lets go of receive buffers when told.
#pragma once

#include <systemc>

#include <deque>
#include <vector>

#include "flitwise/link_socket.h"
#include "link/link.h"

namespace flitwise::test {

class MockPort : public sc_core::sc_module {
 public:
  LinkTarget<MockPort> from_link{"from_link"};
  LinkInitiator<MockPort> to_link{"to_link"};

  struct Arrival {
    PacketRef packet;
    Time when;
  };
  std::vector<Arrival> arrivals;
  std::deque<PacketRef> waiting;  ///< refused, to be tried again when the link has room
  unsigned refusals = 0;
  unsigned room_calls = 0;
  bool holds_buffers = false;
  std::deque<PacketRef> held;

  explicit MockPort(const sc_core::sc_module_name& name) : sc_module(name) {
    from_link.register_nb_transport_fw(this, &MockPort::receive, 0);
    to_link.register_nb_transport_bw(this, &MockPort::link_has_room, 0);
  }

  /// Joins the two ports by the link; index by LinkSide.
  static void join(Link& link, MockPort& upstream, MockPort& downstream) {
    MockPort* const ports[] = {&upstream, &downstream};
    for (std::size_t side = 0; side < 2; ++side) {
      ports[side]->to_link.bind(*link.port.from[side]);
      link.port.to[side]->bind(ports[side]->from_link);
    }
  }

  void send(PacketRef packet) {
    waiting.push_back(std::move(packet));
    flush();
  }
  void free_one() {
    const PacketRef packet = held.front();
    held.pop_front();
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    from_link->nb_transport_bw(*packet, phase, delay);
  }

 private:
  void flush() {
    while (!waiting.empty()) {
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (!is_taken(to_link->nb_transport_fw(*waiting.front(), phase, delay))) {
        ++refusals;
        return;
      }
      waiting.pop_front();
    }
  }
  tlm::tlm_sync_enum receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& /*delay*/) {
    arrivals.push_back({PacketRef(&packet), now()});
    if (holds_buffers) {
      held.emplace_back(&packet);
      return tlm::TLM_UPDATED;
    }
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum link_has_room(int /*id*/, Packet& /*packet*/, tlm::tlm_phase& phase,
                                   sc_core::sc_time& /*delay*/) {
    EXPECT_EQ(phase, tlm::END_REQ);
    ++room_calls;
    flush();
    return tlm::TLM_COMPLETED;
  }
};

}  // namespace flitwise::test
