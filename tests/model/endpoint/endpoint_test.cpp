// SPDX-License-Identifier: Apache-2.0
// A whole device at a stand-in for its link.
#include "endpoint/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flitwise::endpoint_test {
namespace {

using testing::ElementsAre;

/// The other end of the sockets: may refuse completions, takes all else.
struct FakeLink : sc_core::sc_module {
  explicit FakeLink(const sc_core::sc_module_name& name) : sc_module(name) {
    from_port.register_nb_transport_fw(this, &FakeLink::take, 0);
    to_port.register_nb_transport_bw(this, &FakeLink::freed, 0);
  }
  tlm::tlm_sync_enum take(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                          sc_core::sc_time& /*delay*/) {
    if (is_full && is_completion(packet.tlp.type)) {
      ++refusals;
      return tlm::TLM_ACCEPTED;
    }
    taken.push_back(packet.tlp.type);
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum freed(int /*id*/, Packet& /*packet*/, tlm::tlm_phase& /*phase*/,
                           sc_core::sc_time& /*delay*/) {
    return tlm::TLM_COMPLETED;
  }
  void give(Packet& packet) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    to_port->nb_transport_fw(packet, phase, delay);
    sc_core::sc_start(10, sc_core::SC_US);
  }
  void has_room(Packet& of) {
    is_full = false;
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay;
    from_port->nb_transport_bw(of, phase, delay);
  }

  LinkTarget<FakeLink> from_port{"from_port"};
  LinkInitiator<FakeLink> to_port{"to_port"};
  bool is_full = false;
  unsigned refusals = 0;
  std::vector<TlpType> taken;
};

TEST(EndpointTest, LNK_9_20_ARefusedAnswerGoesOnceThereIsRoomThoughAMessageWasTakenSince) {
  PacketPool pool;
  LatencyTracer tracer({});
  Endpoint endpoint("ep", EndpointConfig::of(Config{}), pool, tracer);
  FakeLink link("link");
  endpoint.shell().to_link.bind(link.from_port);
  link.to_port.bind(endpoint.shell().from_link);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  link.is_full = true;
  const PacketRef read = pool.make(PacketKind::kTlp);
  read->tlp.type = TlpType::kCfgRd0;
  read->tlp.length_dw = 1;
  read->tlp.first_be = 0xf;
  read->tlp.completer_id = Bdf::of(1, 0, 0);
  link.give(*read);
  EXPECT_GT(link.refusals, 0U);
  const PacketRef turn_off = pool.make(PacketKind::kTlp);  // it is answered by a message
  turn_off->tlp.type = TlpType::kMsg;
  turn_off->tlp.routing = MsgRouting::kBroadcast;
  turn_off->tlp.message_code = msg::kPmeTurnOff;
  link.give(*turn_off);
  EXPECT_THAT(link.taken, ElementsAre(TlpType::kMsg));
  link.has_room(*read);
  EXPECT_THAT(link.taken, ElementsAre(TlpType::kMsg, TlpType::kCplD));
}

}  // namespace
}  // namespace flitwise::endpoint_test
