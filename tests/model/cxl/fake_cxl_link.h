// SPDX-License-Identifier: Apache-2.0
/// The link of an agent of CXL.cache or CXL.mem: keeps what it is given, with the time from which
/// on it may leave, and delivers what the test says.
#pragma once

#include <gtest/gtest.h>
#include <systemc>

#include <vector>

#include "coherence/cxl_line.h"
#include "flitwise/link_socket.h"

namespace flitwise::test {

class FakeCxlLink : public sc_core::sc_module {
 public:
  LinkTarget<FakeCxlLink> from_agent{"from_agent"};
  LinkInitiator<FakeCxlLink> to_agent{"to_agent"};

  struct Sent {
    PacketRef packet;
    Time ready;
  };
  std::vector<Sent> sent;
  bool is_full = false;
  unsigned refused = 0;

  explicit FakeCxlLink(const sc_core::sc_module_name& name) : sc_module(name) {
    from_agent.register_nb_transport_fw(this, &FakeCxlLink::take, 0);
  }

  const CxlMessage& message(std::size_t index) const { return *sent.at(index).packet->cxl; }
  /// It has room again, and says so.
  void make_room(PacketPool& pool) {
    is_full = false;
    const PacketRef nothing = pool.make(PacketKind::kCxl);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    from_agent->nb_transport_bw(*nothing, phase, delay);
  }
  void deliver(PacketPool& pool, const CxlMessage& message, const CxlLine* line = nullptr) {
    PacketRef packet = pool.make(PacketKind::kCxl);
    *packet->cxl = message;
    if (line != nullptr) {
      packet->payload.assign(line->begin(), line->end());
    }
    EXPECT_TRUE(hand_over(to_agent, *packet, now()));
  }

 private:
  tlm::tlm_sync_enum take(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                          sc_core::sc_time& delay) {
    if (is_full) {
      ++refused;
      return tlm::TLM_ACCEPTED;
    }
    packet.stamp(Hop::kSent, now());
    sent.push_back({PacketRef(&packet), now() + Time{static_cast<std::int64_t>(delay.value())}});
    return tlm::TLM_COMPLETED;
  }
};

}  // namespace flitwise::test
