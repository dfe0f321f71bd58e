// SPDX-License-Identifier: Apache-2.0
// A whole device at a stand-in for its link.
#include "endpoint/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/endpoint/device_fakes.h"

namespace flitwise::endpoint_test {
namespace {

using testing::ElementsAre;

TEST(EndpointTest, LNK_9_20_ARefusedAnswerGoesOnceThereIsRoomThoughAMessageWasTakenSince) {
  PacketPool pool;
  LatencyTracer tracer({});
  Endpoint endpoint("ep", EndpointConfig::of(Config{}), pool, tracer);
  test::FakeLink link("link");
  bool is_full = true;  // of completions
  unsigned refusals = 0;
  std::vector<TlpType> taken;
  link.takes = [&](const Packet& packet, Time /*delay*/) {
    const bool is_refused = is_full && is_completion(packet.tlp.type);
    refusals += is_refused ? 1U : 0U;
    if (!is_refused) {
      taken.push_back(packet.tlp.type);
    }
    return !is_refused;
  };
  const auto give = [&](Packet& packet) {
    link.give(packet);
    sc_core::sc_start(10, sc_core::SC_US);
  };
  endpoint.shell().to_link.bind(link.from_port);
  link.to_port.bind(endpoint.shell().from_link);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  const PacketRef read = pool.make(PacketKind::kTlp);
  read->tlp.type = TlpType::kCfgRd0;
  read->tlp.length_dw = 1;
  read->tlp.first_be = 0xf;
  read->tlp.completer_id = Bdf::of(1, 0, 0);
  give(*read);
  EXPECT_GT(refusals, 0U);
  const PacketRef turn_off = pool.make(PacketKind::kTlp);  // it is answered by a message
  turn_off->tlp.type = TlpType::kMsg;
  turn_off->tlp.routing = MsgRouting::kBroadcast;
  turn_off->tlp.message_code = msg::kPmeTurnOff;
  give(*turn_off);
  EXPECT_THAT(taken, ElementsAre(TlpType::kMsg));
  is_full = false;
  link.tell_room(*read);
  EXPECT_THAT(taken, ElementsAre(TlpType::kMsg, TlpType::kCplD));
}

}  // namespace
}  // namespace flitwise::endpoint_test
