// SPDX-License-Identifier: Apache-2.0
// Where packets go, when, and what holds them.
#include "model/switch/switch_fixture.h"

namespace flitwise::forwarding_test {
namespace {

TEST(Switch, ARequestGoesUpAfterTheForwardLatencyAndHoldsItsBufferUntilThen) {
  SwitchBench bench;
  const PacketRef write = bench.make(TlpType::kMWr);
  EXPECT_FALSE(bench.down[0]->send(write));
  bench.run(Time::from_ns(59));
  EXPECT_TRUE(bench.up.got.empty());
  EXPECT_TRUE(bench.down[0]->freed_packets.empty());
  bench.run(Time::from_ns(2));
  ASSERT_EQ(bench.up.got, std::vector<PacketRef>{write});
  EXPECT_EQ(bench.up.times, std::vector<Time>{Time::from_ns(60)});
  EXPECT_EQ(bench.down[0]->freed_packets, std::vector<const Packet*>{write.get()});
  EXPECT_TRUE(bench.sw.is_quiet());
  EXPECT_TRUE(bench.sw.errors().empty());
}

TEST(Switch, CompletionsGoDownByRequesterIdAndRequestsByAddress) {
  SwitchBench bench;
  const PacketRef completion = bench.make(TlpType::kCplD, Bdf::of(4, 0, 0));
  const PacketRef read = bench.make(TlpType::kMRd, Bdf{});
  read->tlp.is_4dw = true;
  read->tlp.address = bench.set_up.windows[0].base + 0x100;
  bench.up.send(completion);
  bench.up.send(read);
  bench.run();
  EXPECT_EQ(bench.down[1]->got, std::vector<PacketRef>{completion});
  EXPECT_EQ(bench.down[0]->got, std::vector<PacketRef>{read});
  EXPECT_EQ(bench.up.freed_packets.size(), 2U);
}

TEST(Switch, ARefusedPacketKeepsItsReceiveBufferUntilTheLinkTakesIt) {
  SwitchBench bench;
  bench.up.refuses[static_cast<std::size_t>(FcClass::kPosted)] = true;
  for (int i = 0; i < 100; ++i) {
    bench.down[0]->send(bench.make(TlpType::kMWr));
  }
  bench.run();
  EXPECT_TRUE(bench.up.got.empty());
  EXPECT_TRUE(bench.down[0]->freed_packets.empty());
  EXPECT_THAT(bench.sw.waiting(), testing::HasSubstr("100 posted requests"));
  bench.up.open();
  EXPECT_EQ(bench.up.got.size(), 100U);
  EXPECT_EQ(bench.down[0]->freed_packets.size(), 100U);
  EXPECT_TRUE(bench.sw.is_quiet());
}

TEST(Switch, LNK_9_2_PostedPassesNonPostedThatTheLinkRefuses) {
  SwitchBench bench;
  bench.up.refuses[static_cast<std::size_t>(FcClass::kNonPosted)] = true;
  bench.down[0]->send(bench.make(TlpType::kMRd));
  bench.down[0]->send(bench.make(TlpType::kMWr));
  bench.down[0]->send(bench.make(TlpType::kCplD, Bdf{}));
  bench.run();
  EXPECT_EQ(bench.up.types(), (std::vector<TlpType>{TlpType::kMWr, TlpType::kCplD}));
  bench.up.open();
  EXPECT_EQ(bench.up.types().back(), TlpType::kMRd);
}

TEST(Switch, LNK_9_4_AReadDoesNotPassAPostedThatTheLinkRefuses) {
  SwitchBench bench;
  bench.up.refuses[static_cast<std::size_t>(FcClass::kPosted)] = true;
  bench.down[0]->send(bench.make(TlpType::kMWr));
  bench.down[0]->send(bench.make(TlpType::kMRd));
  bench.run();
  EXPECT_TRUE(bench.up.got.empty());
  bench.up.open();
  EXPECT_EQ(bench.up.types(), (std::vector<TlpType>{TlpType::kMWr, TlpType::kMRd}));
}

TEST(Switch, AWayThatIsBlockedDoesNotBlockTheOthers) {
  SwitchBench bench;
  bench.down[0]->refuses = {true, true, true};
  bench.up.send(bench.make(TlpType::kCplD, Bdf::of(3, 0, 0)));
  bench.up.send(bench.make(TlpType::kCplD, Bdf::of(4, 0, 0)));
  bench.run();
  EXPECT_EQ(bench.down[1]->got.size(), 1U);
  EXPECT_EQ(bench.up.freed_packets.size(), 1U);
}

TEST(Switch, PostedBytesGoOnOrAreCountedAsDropped) {
  SwitchBench bench;
  bench.up.refuses[static_cast<std::size_t>(FcClass::kPosted)] = true;
  const auto write = [&](Bdf requester, std::uint32_t bytes) {
    const PacketRef packet = bench.make(TlpType::kMWr, requester);
    packet->payload_bytes = bytes;
    return packet;
  };
  const Bdf own = Bdf::of(bench.set_up.buses[0].secondary, 0, 0);
  bench.down[0]->send(write(own, 4));
  bench.down[0]->send(write(own, 3));
  bench.down[0]->send(write(Bdf::of(0x77, 0, 0), 2));  // [DHI D23]: not from below this port
  bench.down[0]->send(bench.make(TlpType::kMRd, own));
  bench.run();
  const auto books_are_in_order = [&] { return bench.sw.checks().front().ok; };
  EXPECT_EQ(bench.sw.posted_bytes(0).in, 9U);
  EXPECT_EQ(bench.sw.posted_bytes(0).dropped, 2U);
  EXPECT_EQ(bench.sw.posted_bytes(kUpstreamPort).out, 0U);
  EXPECT_FALSE(books_are_in_order()) << "seven bytes are still inside";
  bench.up.open();
  EXPECT_EQ(bench.sw.posted_bytes(kUpstreamPort).out, 7U);
  EXPECT_TRUE(books_are_in_order());
}

TEST(Switch, APeerToPeerWriteIsRedirectedUpward) {
  SwitchBench bench;
  const PacketRef write = bench.make(TlpType::kMWr);
  write->tlp.is_4dw = true;
  write->tlp.address = bench.set_up.windows[1].base;
  bench.down[0]->send(write);
  bench.run();
  EXPECT_EQ(bench.up.got, std::vector<PacketRef>{write});
  EXPECT_TRUE(bench.down[1]->got.empty());
}

// Without Upstream Forwarding. [LNK-13.5]
TEST(Switch, AnAddressBehindTheSendersOwnPortIsAnsweredWithUr) {
  SwitchBench bench;
  const auto acs = *bench.sw.config_space(0).find_extended(cfg::kExtAcs);
  bench.sw.configure(0, static_cast<std::uint16_t>(acs + cfg::acs::kControl), 0);
  const PacketRef read = bench.make(TlpType::kMRd);
  read->tlp.is_4dw = true;
  read->tlp.address = bench.set_up.windows[0].base;
  read->tlp.tag = 77;
  bench.down[0]->send(read);
  bench.run();
  ASSERT_EQ(bench.down[0]->got.size(), 1U);
  const Tlp& answer = bench.down[0]->got[0]->tlp;
  EXPECT_EQ(answer.type, TlpType::kCpl);
  EXPECT_EQ(answer.status, CplStatus::kUR);
  EXPECT_EQ(answer.requester_id, Bdf::of(3, 0, 0));
  EXPECT_EQ(answer.completer_id, Bdf::of(2, 0, 0));
  EXPECT_EQ(answer.tag, 77);
  EXPECT_EQ(bench.sw.errors().at("unsupported_request.back_to_sender"), 1U);
  EXPECT_EQ(bench.down[0]->freed_packets.size(), 1U);
}

TEST(Switch, ABroadcastGoesToAllAndFreesItsBufferOnce) {
  SwitchBench bench;
  const PacketRef message = bench.make(TlpType::kMsg, Bdf{});
  message->tlp.routing = MsgRouting::kBroadcast;
  message->tlp.message_code = msg::kPmeTurnOff;
  bench.down[1]->refuses = {true, true, true};
  bench.up.send(message);
  bench.run();
  EXPECT_EQ(bench.down[0]->got.size(), 1U);
  EXPECT_TRUE(bench.up.freed_packets.empty());
  bench.down[1]->open();
  EXPECT_EQ(bench.down[1]->got.size(), 1U);
  EXPECT_EQ(bench.up.freed_packets.size(), 1U);
}

TEST(Switch, AGatheredMessageGoesUpOnceWhenEveryPortHasSentOne) {
  SwitchBench bench;
  for (const auto& link : bench.down) {
    EXPECT_TRUE(bench.up.got.empty());
    const PacketRef message =
        bench.make(TlpType::kMsg, Bdf::of(link == bench.down[0] ? 3 : 4, 0, 0));
    message->tlp.routing = MsgRouting::kGathered;
    message->tlp.message_code = msg::kPmeToAck;
    link->send(message);
    bench.run();
  }
  EXPECT_EQ(bench.up.types(), std::vector<TlpType>{TlpType::kMsg});
}

TEST(Switch, LNK_9_17_AMalformedTlpIsDroppedAndCountedByKind) {
  SwitchBench bench;
  const PacketRef read = bench.make(TlpType::kMRd);
  read->tlp.address = 0xffc;
  read->tlp.length_dw = 2;
  read->tlp.last_be = 0xf;
  EXPECT_TRUE(bench.down[0]->send(read));
  bench.run();
  EXPECT_TRUE(bench.up.got.empty());
  EXPECT_TRUE(bench.down[0]->got.empty());
  EXPECT_EQ(bench.sw.errors().at("malformed_tlp.crosses_4kib"), 1U);
}

}  // namespace
}  // namespace flitwise::forwarding_test
