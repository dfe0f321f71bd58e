// SPDX-License-Identifier: Apache-2.0
// Snoops of a cache, and what they meet on their way. [COH-4.1] to [COH-4.7]
#include <gtest/gtest.h>

#include "unit/coherence/coherence_support.h"

namespace flitwise::test::device_cache_races_test {
namespace {

using cxl::D2hReq;
using cxl::D2hRsp;
using cxl::GoState;
using cxl::H2dReq;
using cxl::H2dRsp;

TEST(DeviceCacheSnoop, COH_4_1_EachStateHasItsAnswer) {
  struct Expected {
    LineState state;
    H2dReq snoop;
    D2hRsp answer;
    LineState keeps;
    bool has_data;
  };
  constexpr LineState kI = LineState::kInvalid, kS = LineState::kShared, kE = LineState::kExclusive,
                      kM = LineState::kModified;
  for (const Expected& one : {Expected{kI, H2dReq::kSnpData, D2hRsp::kRspIHitI, kI, false},
                              {kI, H2dReq::kSnpInv, D2hRsp::kRspIHitI, kI, false},
                              {kI, H2dReq::kSnpCur, D2hRsp::kRspIHitI, kI, false},
                              {kS, H2dReq::kSnpData, D2hRsp::kRspSHitSE, kS, false},
                              {kS, H2dReq::kSnpInv, D2hRsp::kRspIHitSE, kI, false},
                              {kS, H2dReq::kSnpCur, D2hRsp::kRspVHitV, kS, false},
                              {kE, H2dReq::kSnpData, D2hRsp::kRspSHitSE, kS, false},
                              {kE, H2dReq::kSnpInv, D2hRsp::kRspIHitSE, kI, false},
                              {kE, H2dReq::kSnpCur, D2hRsp::kRspVHitV, kE, false},
                              {kM, H2dReq::kSnpData, D2hRsp::kRspSFwdM, kS, true},
                              {kM, H2dReq::kSnpInv, D2hRsp::kRspIFwdM, kI, true},
                              {kM, H2dReq::kSnpCur, D2hRsp::kRspVFwdV, kM, true}}) {
    CacheBench bench;
    if (one.state != kI) {
      bench.hold(0x40, one.state, 5);
    }
    bench.snoop(one.snoop, 0x40, 21);
    CxlOut answer;
    EXPECT_TRUE(bench.sent(one.answer, &answer));
    EXPECT_EQ(answer.message.id, 21U);
    if (one.has_data) {
      EXPECT_EQ(bench.sent_data(21), 5U);
    }
    EXPECT_TRUE(bench.sent_nothing_more());
    EXPECT_EQ(bench.cache.state(0x40), one.keeps);
  }
}

TEST(DeviceCacheSnoop, COH_4_2_AnUpgradeLosesItsCopyAndGetsTheLineWithGo) {
  CacheBench bench;
  bench.hold(0x40, LineState::kShared, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kWrite, 0x40, 9, enables_of(1));
  bench.sent(D2hReq::kRdOwn);
  bench.snoop(H2dReq::kSnpInv, 0x40);
  EXPECT_TRUE(bench.sent(D2hRsp::kRspIHitSE));
  EXPECT_EQ(bench.cache.state(0x40), LineState::kInvalid);
  bench.go(cqid, GoState::kExclusive);
  bench.data(cqid, 6);  // what the other has written
  ASSERT_EQ(bench.done.size(), 1U);
  EXPECT_EQ(words_of(bench.done[0].line)[0], 9U);
  EXPECT_EQ(words_of(bench.done[0].line)[1], 6U);
}

TEST(DeviceCacheSnoop, COH_4_2_AnUpgradeKeepsItsCopyWithSnpData) {
  CacheBench bench;
  bench.hold(0x40, LineState::kShared, 5);
  bench.ask(CoreOp::kWrite, 0x40, 9, enables_of(1));
  bench.sent(D2hReq::kRdOwn);
  bench.snoop(H2dReq::kSnpData, 0x40);
  EXPECT_TRUE(bench.sent(D2hRsp::kRspSHitSE));
  EXPECT_EQ(bench.cache.state(0x40), LineState::kShared);
}

TEST(DeviceCacheSnoop, COH_4_3_ASnoopTakesADirtyLineOnItsWayOut) {
  for (const H2dReq snoop : {H2dReq::kSnpInv, H2dReq::kSnpData}) {
    CacheBench bench;
    bench.hold(0x40, LineState::kModified, 5);
    const std::uint16_t cqid = bench.ask(CoreOp::kEvict, 0x40);
    bench.sent(D2hReq::kDirtyEvict);
    bench.snoop(snoop, 0x40);
    EXPECT_TRUE(bench.sent(D2hRsp::kRspIFwdM));
    EXPECT_EQ(bench.sent_data(77), 5U);
    bench.respond(H2dRsp::kGoWritePull, cqid, 12);  // [COH-4.4]
    bench.sent_data(12, true);
    bench.result();
  }
}

TEST(DeviceCacheSnoop, COH_4_3_ASnoopTakesACleanLineOnItsWayOut) {
  CacheBench bench;
  bench.hold(0x40, LineState::kExclusive, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kEvict, 0x40);
  bench.sent(D2hReq::kCleanEvict);
  bench.snoop(H2dReq::kSnpInv, 0x40);
  EXPECT_TRUE(bench.sent(D2hRsp::kRspIHitSE));
  bench.respond(H2dRsp::kGoWritePull, cqid, 12);  // [COH-4.4]
  bench.sent_data(12, true);
}

TEST(DeviceCacheSnoop, COH_4_7_SnpCurLeavesTheEvictionAsItIs) {
  CacheBench bench;
  bench.hold(0x40, LineState::kModified, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kEvict, 0x40);
  bench.sent(D2hReq::kDirtyEvict);
  bench.snoop(H2dReq::kSnpCur, 0x40);
  EXPECT_TRUE(bench.sent(D2hRsp::kRspVFwdV));
  EXPECT_EQ(bench.sent_data(77), 5U);
  bench.respond(H2dRsp::kGoWritePull, cqid, 12);
  EXPECT_EQ(bench.sent_data(12), 5U);
}

TEST(DeviceCacheSnoop, COH_4_4_APullWithoutASnoopIsNotBogus) {
  CacheBench bench;
  bench.hold(0x40, LineState::kModified, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kEvict, 0x40);
  bench.snoop(H2dReq::kSnpInv, 0x80);  // of another line
  bench.sent(D2hReq::kDirtyEvict);
  bench.sent(D2hRsp::kRspIHitI);
  bench.respond(H2dRsp::kGoWritePull, cqid, 12);
  EXPECT_EQ(bench.sent_data(12), 5U);
}

TEST(DeviceCacheSnoop, COH_4_5_ASnoopBetweenGoAndDataWaitsForTheData) {
  CacheBench bench;
  const std::uint16_t cqid = bench.ask(CoreOp::kWrite, 0x40, 9, enables_of(1));
  bench.sent(D2hReq::kRdOwn);
  bench.go(cqid, GoState::kExclusive);
  bench.snoop(H2dReq::kSnpInv, 0x40);
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.snoop(H2dReq::kSnpInv, 0x80, 78);  // others do not wait behind it
  EXPECT_TRUE(bench.sent(D2hRsp::kRspIHitI));
  bench.data(cqid, 3);
  EXPECT_EQ(bench.result(), 9U) << "the write is done once";
  EXPECT_TRUE(bench.sent(D2hRsp::kRspIFwdM));
  EXPECT_EQ(bench.sent_data(77), 9U);
  EXPECT_EQ(bench.cache.state(0x40), LineState::kInvalid);
}

TEST(DeviceCacheSnoop, COH_4_6_ASnoopBeforeGoIsAnsweredWithWhatIsHere) {
  for (const bool has_data : {false, true}) {
    CacheBench bench;
    const std::uint16_t cqid = bench.ask(CoreOp::kRead, 0x40);
    bench.sent(D2hReq::kRdShared);
    if (has_data) {
      bench.data(cqid, 3);
    }
    bench.snoop(H2dReq::kSnpInv, 0x40);
    EXPECT_TRUE(bench.sent(D2hRsp::kRspIHitI)) << "the home waits for it before GO";
  }
}

TEST(DeviceCacheSnoop, COH_4_6_RdCurrHoldsNothing) {
  CacheBench bench;
  bench.ask(CoreOp::kReadOnce, 0x40);
  bench.sent(D2hReq::kRdCurr);
  bench.snoop(H2dReq::kSnpInv, 0x40);
  EXPECT_TRUE(bench.sent(D2hRsp::kRspIHitI));
}

TEST(DeviceCacheBad, COH_7_1_EachKindIsCountedAndChangesNothing) {
  CacheBench bench;
  bench.hold(0x40, LineState::kModified, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kRead, 0x80);
  bench.out.clear();
  DeviceCache& cache = bench.cache;
  const auto receive = [&](const CxlMessage& message) {
    cache.receive(message, {}, bench.out, bench.done);
  };
  const auto unused = static_cast<std::uint16_t>(cqid ^ 1U);
  receive(message_of(CxlChannel::kM2sReq, 0, 0));
  EXPECT_EQ(cache.bad_messages()[BadMessage::kWrongChannel], 1U);
  receive(message_of(CxlChannel::kH2dReq, 7, 1, 0x40));
  receive(message_of(CxlChannel::kH2dRsp, 0xc, cqid));
  EXPECT_EQ(cache.bad_messages()[BadMessage::kUnknownOpcode], 2U);
  bench.go(unused, GoState::kShared);
  bench.go(0xffff, GoState::kShared);
  bench.data(unused, 1);
  EXPECT_EQ(cache.bad_messages()[BadMessage::kUnknownId], 3U);
  bench.respond(H2dRsp::kWritePull, cqid);
  bench.respond(H2dRsp::kExtCmp, cqid);
  EXPECT_EQ(cache.bad_messages()[BadMessage::kWrongAnswer], 2U);
  bench.snoop(H2dReq::kSnpInv, 0x41);
  EXPECT_EQ(cache.bad_messages()[BadMessage::kBadAddress], 1U);
  EXPECT_TRUE(bench.sent_nothing_more());
  EXPECT_TRUE(bench.done.empty());
  EXPECT_EQ(cache.state(0x40), LineState::kModified);
  EXPECT_EQ(cache.bad_messages().total(), 9U);
  bench.go(cqid, GoState::kShared);
  bench.go(cqid, GoState::kShared);  // twice
  bench.data(cqid, 1);
  EXPECT_EQ(bench.result(), 1U) << "the request still ends";
  EXPECT_EQ(cache.bad_messages()[BadMessage::kWrongAnswer], 3U);
}

TEST(DeviceCacheBad, COH_7_1_DataWithoutAHeaderThatWaitsForThem) {
  CacheBench bench;
  const std::uint16_t write = bench.ask(CoreOp::kWriteThrough, 0x40, 5);
  bench.data(write, 1);
  const std::uint16_t read = bench.ask(CoreOp::kRead, 0x80);
  bench.data(read, 1);
  bench.data(read, 2);
  EXPECT_EQ(bench.cache.bad_messages()[BadMessage::kUnawaitedData], 2U);
  bench.go(read, GoState::kShared);
  EXPECT_EQ(bench.result(), 1U);
}

TEST(DeviceCacheBad, COH_3_3_ASecondSnoopOfALineIsNotAwaited) {
  CacheBench bench;
  const std::uint16_t cqid = bench.ask(CoreOp::kRead, 0x40);
  bench.out.clear();
  bench.go(cqid, GoState::kShared);
  bench.snoop(H2dReq::kSnpInv, 0x40, 1);
  bench.snoop(H2dReq::kSnpInv, 0x40, 2);
  EXPECT_EQ(bench.cache.bad_messages()[BadMessage::kSecondSnoop], 1U);
  bench.data(cqid, 3);
  CxlOut answer;
  EXPECT_TRUE(bench.sent(D2hRsp::kRspIHitSE, &answer));
  EXPECT_EQ(answer.message.id, 1U);
  EXPECT_TRUE(bench.sent_nothing_more());
}

}  // namespace
}  // namespace flitwise::test::device_cache_races_test
