// SPDX-License-Identifier: Apache-2.0
// Requests of a cache and their answers. [COH-2.1] to [COH-2.8]
#include <gtest/gtest.h>

#include "coherence/agent_books.h"
#include "coherence/cache_array.h"
#include "unit/coherence/coherence_support.h"

namespace flitwise::test::device_cache_test {
namespace {

using cxl::D2hReq;
using cxl::GoState;
using cxl::H2dReq;
using cxl::H2dRsp;

TEST(DeviceCache, COH_2_1_EachOperationHasItsRequest) {
  struct Expected {
    CoreOp op;
    std::uint64_t byte_enables;
    D2hReq opcode;
  };
  const std::uint64_t part = enables_of(1);
  for (const Expected& one : {Expected{CoreOp::kRead, 0, D2hReq::kRdShared},
                              {CoreOp::kReadAny, 0, D2hReq::kRdAny},
                              {CoreOp::kReadOnce, 0, D2hReq::kRdCurr},
                              {CoreOp::kWrite, part, D2hReq::kRdOwn},
                              {CoreOp::kWrite, kAllBytes, D2hReq::kRdOwnNoData},
                              {CoreOp::kWriteThrough, part, D2hReq::kWrInv},
                              {CoreOp::kWriteThrough, kAllBytes, D2hReq::kItoMWr},
                              {CoreOp::kWritePosted, part, D2hReq::kWoWrInv},
                              {CoreOp::kWritePosted, kAllBytes, D2hReq::kWoWrInvF}}) {
    CacheBench bench;
    bench.ask(one.op, 0x40, 1, one.byte_enables);
    EXPECT_TRUE(bench.sent(one.opcode)) << static_cast<int>(one.op);
    EXPECT_TRUE(bench.sent_nothing_more());
    EXPECT_TRUE(bench.done.empty());
  }
}

TEST(DeviceCache, COH_1_1_AHitSaysNothingAndEBecomesMByItself) {
  CacheBench bench;
  bench.hold(0x40, LineState::kExclusive, 5);
  bench.ask(CoreOp::kRead, 0x40);
  EXPECT_EQ(bench.result(), 5U);
  bench.ask(CoreOp::kWrite, 0x48, 6, enables_of(1));
  EXPECT_EQ(bench.result(), 6U);
  EXPECT_EQ(bench.cache.state(0x40), LineState::kModified);
  bench.ask(CoreOp::kWriteThrough, 0x40, 7, enables_of(2));
  EXPECT_EQ(bench.result(), 6U) << "only the second word";
  EXPECT_TRUE(bench.sent_nothing_more());
}

TEST(DeviceCache, COH_2_3_AWriteToASharedLineTakesOwnership) {
  for (const CoreOp op : {CoreOp::kWrite, CoreOp::kWriteThrough, CoreOp::kWritePosted}) {
    CacheBench bench;
    bench.hold(0x40, LineState::kShared, 5);
    const std::uint16_t cqid = bench.ask(op, 0x40, 6, enables_of(1));
    EXPECT_TRUE(bench.sent(D2hReq::kRdOwn));
    bench.go(cqid, GoState::kExclusive);
    bench.data(cqid, 5);
    EXPECT_EQ(bench.result(), 6U);
    EXPECT_EQ(bench.cache.state(0x40), LineState::kModified);
  }
}

TEST(DeviceCache, COH_2_2_TheLeastRecentlyUsedLineLeavesBeforeTheRequest) {
  CacheBench bench({1, 2, 8, 0, true});
  bench.hold(0x000, LineState::kModified, 1);
  bench.hold(0x040, LineState::kExclusive, 2);
  bench.ask(CoreOp::kRead, 0x000);  // now 0x40 is the older one
  bench.done.clear();
  bench.ask(CoreOp::kRead, 0x080);
  ASSERT_EQ(bench.out.size(), 2U);
  EXPECT_EQ(bench.out[0].message.opcode, static_cast<std::uint8_t>(D2hReq::kCleanEvict));
  EXPECT_EQ(bench.out[0].message.address, 0x40U);
  EXPECT_EQ(bench.out[1].message.opcode, static_cast<std::uint8_t>(D2hReq::kRdShared));
  EXPECT_NE(bench.out[0].message.id, bench.out[1].message.id);
}

TEST(DeviceCache, COH_2_2_AWayWhoseRequestIsOutIsNoVictim) {
  CacheBench bench({1, 1, 8, 0, true});
  bench.ask(CoreOp::kRead, 0x000);
  EXPECT_FALSE(bench.accepts(CoreOp::kRead, 0x040)) << "the only way is reserved";
  EXPECT_TRUE(bench.accepts(CoreOp::kReadOnce, 0x040)) << "that needs no way";
}

TEST(DeviceCache, COH_2_4_ALineHasOneRequestAtATime) {
  CacheBench bench;
  const std::uint16_t cqid = bench.ask(CoreOp::kReadOnce, 0x40);
  EXPECT_FALSE(bench.accepts(CoreOp::kRead, 0x40));
  EXPECT_FALSE(bench.accepts(CoreOp::kEvict, 0x78));
  EXPECT_TRUE(bench.accepts(CoreOp::kRead, 0x80));
  bench.data(cqid, 1);
  EXPECT_TRUE(bench.accepts(CoreOp::kRead, 0x40));
}

TEST(DeviceCache, COH_1_3_CqidsAreUniqueAndComeBack) {
  CacheBench bench({64, 4, 2, 0, true});
  const std::uint16_t first = bench.ask(CoreOp::kRead, 0x00);
  const std::uint16_t second = bench.ask(CoreOp::kRead, 0x40);
  EXPECT_NE(first, second);
  EXPECT_FALSE(bench.accepts(CoreOp::kRead, 0x80)) << "both are out";
  bench.go(first, GoState::kShared);
  EXPECT_FALSE(bench.accepts(CoreOp::kRead, 0x80)) << "its data are not here";
  bench.data(first, 1);
  EXPECT_TRUE(bench.accepts(CoreOp::kRead, 0x80));
  EXPECT_EQ(bench.cache.outstanding(), 1U);
}

TEST(DeviceCache, COH_2_5_GoAndDataComeInEitherOrder) {
  for (const bool is_go_first : {true, false}) {
    CacheBench bench;
    const std::uint16_t cqid = bench.ask(CoreOp::kWrite, 0x40, 9, enables_of(2));
    is_go_first ? bench.go(cqid, GoState::kExclusive) : bench.data(cqid, 3);
    EXPECT_TRUE(bench.done.empty());
    is_go_first ? bench.data(cqid, 3) : bench.go(cqid, GoState::kExclusive);
    ASSERT_EQ(bench.done.size(), 1U);
    EXPECT_EQ(words_of(bench.done[0].line)[0], 3U);
    EXPECT_EQ(words_of(bench.done[0].line)[1], 9U);
    EXPECT_EQ(bench.cache.state(0x40), LineState::kModified);
  }
}

TEST(DeviceCache, COH_2_5_RdCurrHasDataAloneAndRdOwnNoDataGoAlone) {
  CacheBench bench;
  bench.data(bench.ask(CoreOp::kReadOnce, 0x40), 4);
  EXPECT_EQ(bench.result(), 4U);
  EXPECT_EQ(bench.cache.state(0x40), LineState::kInvalid);
  bench.go(bench.ask(CoreOp::kWrite, 0x80, 8), GoState::kExclusive);
  EXPECT_EQ(bench.result(), 8U);
  EXPECT_EQ(bench.cache.state(0x80), LineState::kModified);
}

TEST(DeviceCache, COH_2_5_GoGivesTheState) {
  struct Granted {
    CoreOp op;
    GoState go;
    LineState state;
  };
  for (const Granted& one : {Granted{CoreOp::kRead, GoState::kShared, LineState::kShared},
                             {CoreOp::kRead, GoState::kInvalid, LineState::kInvalid},
                             {CoreOp::kReadAny, GoState::kShared, LineState::kShared},
                             {CoreOp::kReadAny, GoState::kExclusive, LineState::kExclusive},
                             {CoreOp::kReadAny, GoState::kModified, LineState::kModified}}) {
    CacheBench bench;
    const std::uint16_t cqid = bench.ask(one.op, 0x40);
    bench.go(cqid, one.go);
    bench.data(cqid, 2);
    EXPECT_EQ(bench.result(), 2U) << "it may be used once in any case";
    EXPECT_EQ(bench.cache.state(0x40), one.state);
  }
}

TEST(DeviceCache, COH_2_8_AnErrorOrAnImpossibleGrantFailsTheOperation) {
  struct Refused {
    CoreOp op;
    GoState go;
    std::uint64_t counted;
  };
  for (const Refused& one : {Refused{CoreOp::kRead, GoState::kError, 0},
                             {CoreOp::kRead, GoState::kModified, 1},
                             {CoreOp::kWrite, GoState::kShared, 1},
                             {CoreOp::kWrite, GoState::kInvalid, 1}}) {
    CacheBench bench;
    const std::uint16_t cqid = bench.ask(one.op, 0x40, 1, enables_of(1));
    bench.go(cqid, one.go);
    bench.data(cqid, 2);
    bench.result(true);
    EXPECT_EQ(bench.cache.state(0x40), LineState::kInvalid);
    EXPECT_EQ(bench.cache.outstanding(), 0U);
    EXPECT_EQ(bench.cache.bad_messages()[BadMessage::kWrongAnswer], one.counted);
  }
}

TEST(DeviceCache, COH_2_8_DataWithGoErrFailTheRead) {
  CacheBench bench;
  const std::uint16_t cqid = bench.ask(CoreOp::kRead, 0x40);
  CxlMessage header = message_of(CxlChannel::kH2dData, 0, cqid);
  header.go_err = true;
  bench.cache.receive(header, {}, bench.out, bench.done);
  bench.go(cqid, GoState::kShared);
  bench.result(true);
  EXPECT_EQ(bench.cache.state(0x40), LineState::kInvalid);
}

// The directory lists the copy, so that it has to hear that the copy is gone.
TEST(DeviceCache, COH_2_8_ACopyThatCouldNotBeOwnedLeavesAsItWas) {
  for (const bool is_go_first : {true, false}) {
    CacheBench bench;
    bench.hold(0x40, LineState::kShared, 5);
    const std::uint16_t cqid = bench.ask(CoreOp::kWrite, 0x40, 9, enables_of(1));
    EXPECT_TRUE(bench.sent(D2hReq::kRdOwn));
    CxlMessage nothing = message_of(CxlChannel::kH2dData, 0, cqid);
    nothing.go_err = true;
    if (is_go_first) {
      bench.go(cqid, GoState::kError);
    }
    bench.cache.receive(nothing, {}, bench.out, bench.done);
    if (!is_go_first) {
      bench.go(cqid, GoState::kError);
    }
    bench.result(true);
    CxlOut eviction;
    ASSERT_TRUE(bench.sent(D2hReq::kCleanEvict, &eviction));
    EXPECT_EQ(eviction.message.address, 0x40U);
    bench.respond(H2dRsp::kGoWritePull, eviction.message.id, 3);
    EXPECT_EQ(bench.sent_data(3), 5U) << "not what the refusal came with";
    EXPECT_EQ(bench.cache.state(0x40), LineState::kInvalid);
    EXPECT_EQ(bench.cache.outstanding(), 0U);
  }
}

TEST(DeviceCache, COH_2_8_ACopyThatASnoopTakesBeforeTheRefusalDoesNotLeaveTwice) {
  CacheBench bench;
  bench.hold(0x40, LineState::kShared, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kWrite, 0x40, 9);
  EXPECT_TRUE(bench.sent(D2hReq::kRdOwnNoData));
  bench.snoop(H2dReq::kSnpInv, 0x40);
  bench.out.clear();
  bench.go(cqid, GoState::kError);
  bench.result(true);
  EXPECT_TRUE(bench.sent_nothing_more());
  EXPECT_EQ(bench.cache.outstanding(), 0U);
}

TEST(DeviceCache, COH_2_6_ItoMWrSendsItsDataWithGoWritePull) {
  CacheBench bench;
  const std::uint16_t cqid = bench.ask(CoreOp::kWriteThrough, 0x40, 5);
  bench.sent(D2hReq::kItoMWr);
  bench.respond(H2dRsp::kGoWritePull, cqid, 33);
  EXPECT_EQ(bench.sent_data(33), 5U);
  bench.result();
  EXPECT_EQ(bench.cache.outstanding(), 0U);
}

TEST(DeviceCache, COH_3_11_OnlyAnItoMWrIsLeftToTheHome) {
  CacheBench bench;
  bench.respond(H2dRsp::kGoWritePull, bench.ask(CoreOp::kWriteThrough, 0x40, 5), 33);
  ASSERT_EQ(bench.done.size(), 1U);
  EXPECT_TRUE(bench.done[0].is_at_home);
  bench.done.clear();
  bench.respond(H2dRsp::kGoErrWritePull, bench.ask(CoreOp::kWriteThrough, 0x40, 5), 33);
  const std::uint16_t part = bench.ask(CoreOp::kWriteThrough, 0x40, 5, enables_of(6));
  bench.respond(H2dRsp::kWritePull, part, 33);
  bench.go(part, GoState::kInvalid);
  const std::uint16_t posted = bench.ask(CoreOp::kWritePosted, 0x40, 5);
  bench.respond(H2dRsp::kFastGoWritePull, posted, 34);
  bench.respond(H2dRsp::kExtCmp, posted);
  bench.go(bench.ask(CoreOp::kWrite, 0x40, 5), GoState::kExclusive);
  bench.ask(CoreOp::kWriteThrough, 0x40, 5);  // into the line that it owns
  ASSERT_EQ(bench.done.size(), 5U);
  for (const CoreResult& result : bench.done) {
    EXPECT_FALSE(result.is_at_home);
  }
}

TEST(DeviceCache, COH_2_6_WrInvSendsItsDataWithWritePullAndEndsWithGo) {
  CacheBench bench;
  const std::uint16_t cqid = bench.ask(CoreOp::kWriteThrough, 0x40, 5, enables_of(6));
  bench.sent(D2hReq::kWrInv);
  bench.go(cqid, GoState::kInvalid);  // too early
  EXPECT_EQ(bench.cache.bad_messages()[BadMessage::kWrongAnswer], 1U);
  bench.respond(H2dRsp::kWritePull, cqid, 33);
  ASSERT_EQ(bench.out.size(), 1U);
  EXPECT_EQ(bench.out[0].message.byte_enables, enables_of(6));
  EXPECT_EQ(bench.sent_data(33), 5U);
  EXPECT_TRUE(bench.done.empty());
  bench.go(cqid, GoState::kInvalid);
  bench.result();
}

TEST(DeviceCache, COH_2_6_WOWrInvEndsWithExtCmp) {
  CacheBench bench;
  const std::uint16_t cqid = bench.ask(CoreOp::kWritePosted, 0x40, 5);
  bench.sent(D2hReq::kWoWrInvF);
  bench.respond(H2dRsp::kExtCmp, cqid);  // too early
  EXPECT_EQ(bench.cache.bad_messages()[BadMessage::kWrongAnswer], 1U);
  bench.respond(H2dRsp::kFastGoWritePull, cqid, 34);
  EXPECT_EQ(bench.sent_data(34), 5U);
  EXPECT_TRUE(bench.done.empty());
  bench.respond(H2dRsp::kExtCmp, cqid);
  bench.result();
}

TEST(DeviceCache, COH_2_7_ADirtyLineLeavesWithItsPull) {
  CacheBench bench;
  bench.hold(0x40, LineState::kModified, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kEvict, 0x40);
  EXPECT_TRUE(bench.sent(D2hReq::kDirtyEvict));
  EXPECT_EQ(bench.cache.state(0x40), LineState::kModified);
  bench.respond(H2dRsp::kGoWritePull, cqid, 12);
  EXPECT_EQ(bench.sent_data(12), 5U);
  EXPECT_EQ(bench.cache.state(0x40), LineState::kInvalid);
  bench.result();
}

TEST(DeviceCache, COH_2_7_ACleanLineIsPulledOrDropped) {
  CacheBench bench;
  bench.hold(0x40, LineState::kShared, 5);
  std::uint16_t cqid = bench.ask(CoreOp::kEvict, 0x40);
  EXPECT_TRUE(bench.sent(D2hReq::kCleanEvict));
  bench.respond(H2dRsp::kGoWritePull, cqid, 12);
  EXPECT_EQ(bench.sent_data(12), 5U);
  bench.hold(0x40, LineState::kExclusive, 6);
  cqid = bench.ask(CoreOp::kEvict, 0x40);
  EXPECT_TRUE(bench.sent(D2hReq::kCleanEvict));
  bench.respond(H2dRsp::kGoWritePullDrop, cqid);
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.result();
}

TEST(DeviceCache, COH_2_7_CleanEvictNoDataEndsWithGo) {
  CacheBench bench({4, 2, 8, 0, false});
  bench.hold(0x40, LineState::kExclusive, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kEvict, 0x40);
  EXPECT_TRUE(bench.sent(D2hReq::kCleanEvictNoData));
  bench.go(cqid, GoState::kInvalid);
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.result();
}

TEST(DeviceCache, COH_2_7_AFailedPullStillSendsItsDataAndTellsTheCore) {
  CacheBench bench;
  bench.hold(0x40, LineState::kModified, 5);
  const std::uint16_t cqid = bench.ask(CoreOp::kEvict, 0x40);
  bench.sent(D2hReq::kDirtyEvict);
  bench.respond(H2dRsp::kGoErrWritePull, cqid, 12);
  EXPECT_EQ(bench.sent_data(12), 5U);
  bench.result(true);
}

}  // namespace
}  // namespace flitwise::test::device_cache_test
