// SPDX-License-Identifier: Apache-2.0
// A cache that goes with its link, and the home that goes on without it. [COH-3.10]
#include <gtest/gtest.h>

#include "unit/coherence/coherence_support.h"
#include "unit/coherence/monitored_agent.h"

namespace flitwise::test::port_lost_test {
namespace {

using cxl::D2hReq;
using cxl::D2hRsp;
using cxl::GoState;
using cxl::H2dReq;
using cxl::H2dRsp;

TEST(PortLost, COH_3_10_NobodyIsSnoopedWhoHasGone) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.home.port_lost(1, bench.out);
  EXPECT_TRUE(bench.home.holders(0).empty());
  bench.request(0, D2hReq::kRdOwn, 5);
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.run_memory();
  bench.expect_go(0, 5, GoState::kExclusive);
}

TEST(PortLost, COH_3_10_ASnoopThatIsOutIsAnsweredByMemory) {
  for (const bool has_answered : {false, true}) {
    HomeBench bench;
    bench.hold(1, LineState::kExclusive);
    bench.memory.lines[0] = line_of_value(3);
    bench.request(0, D2hReq::kRdShared, 5);
    const std::uint16_t uqid = bench.snooped(1, H2dReq::kSnpData);
    if (has_answered) {
      bench.answer(1, D2hRsp::kRspSFwdM, uqid);  // its data will never come
    }
    bench.home.port_lost(1, bench.out);
    bench.run_memory();
    bench.expect_go(0, 5, GoState::kShared);
    EXPECT_EQ(bench.sent_data(0, 5), 3U);
    EXPECT_EQ(bench.home.uqids_out(), 0U);
    EXPECT_EQ(bench.home.holders(0).all(), PortMask{1});
  }
}

TEST(PortLost, COH_3_10_APullThatIsOutWritesNothing) {
  for (const D2hReq opcode : {D2hReq::kDirtyEvict, D2hReq::kItoMWr, D2hReq::kWrInv}) {
    HomeBench bench;
    if (opcode == D2hReq::kDirtyEvict) {
      bench.hold(1, LineState::kExclusive);
    }
    bench.memory.lines[0] = line_of_value(3);
    bench.request(1, opcode, 4);
    bench.out.clear();
    bench.home.port_lost(1, bench.out);
    bench.run_memory();
    EXPECT_EQ(bench.in_memory(), 3U);
    EXPECT_EQ(bench.home.outstanding(), 0U);
    EXPECT_EQ(bench.home.uqids_out(), 0U);
    EXPECT_TRUE(bench.sent_nothing_more());
  }
}

// What memory was given is written; of data on their way the home says that they are lost, and of a
// write without GO nothing, since its core has given that up.
TEST(PortLost, COH_3_11_AWriteIsLostWithItsDataAlone) {
  HomeBench bench;
  bench.request(1, D2hReq::kItoMWr, 1, 0);
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 1), 5);  // memory has not done it
  bench.request(1, D2hReq::kItoMWr, 2, 0x40);
  bench.responded(1, H2dRsp::kGoWritePull, 2);
  bench.request(1, D2hReq::kItoMWr, 3, 0);  // has no turn
  bench.home.port_lost(1, bench.out);
  EXPECT_EQ(bench.notes.writes, (std::vector<HomeNotes::Write>{{1, 0x40, false}}));
  bench.run_memory();
  EXPECT_EQ(bench.notes.writes, (std::vector<HomeNotes::Write>{{1, 0x40, false}, {1, 0, true}}));
  EXPECT_EQ(bench.home.outstanding(), 0U);
}

// Requests that wait for their turn, for memory or for snoops end without a word, and the CQIDs
// are free for the cache that comes next.
TEST(PortLost, COH_3_10_RequestsOfTheLostCacheEndUnanswered) {
  HomeBench bench;
  bench.hold(0, LineState::kExclusive);
  bench.hold(2, LineState::kExclusive, 0x40);
  bench.request(1, D2hReq::kRdOwn, 1, 0);        // snoops port 0
  bench.request(1, D2hReq::kDirtyEvict, 2, 0);   // waits behind it
  bench.request(1, D2hReq::kRdShared, 3, 0x80);  // waits for memory
  bench.request(1, D2hReq::kRdCurr, 4, 0x40);    // snoops port 2
  const std::uint16_t first = bench.snooped(0, H2dReq::kSnpInv);
  const std::uint16_t second = bench.snooped(2, H2dReq::kSnpCur);
  bench.home.port_lost(1, bench.out);
  bench.answer(0, D2hRsp::kRspIFwdM, first);
  bench.data(0, first, 8);
  bench.answer(2, D2hRsp::kRspVHitV, second);
  bench.run_memory();
  EXPECT_TRUE(bench.sent_nothing_more());
  EXPECT_EQ(bench.home.outstanding(), 0U);
  EXPECT_EQ(bench.in_memory(), 8U) << "what port 0 had written";
  EXPECT_TRUE(bench.home.holders(0).empty());
  EXPECT_TRUE(bench.home.holders(0x80).empty());
  EXPECT_EQ(bench.home.holders(0x40).owner(), std::optional<std::uint8_t>(2));
  bench.request(1, D2hReq::kRdShared, 1, 0x80);
  bench.run_memory();
  bench.expect_go(1, 1, GoState::kShared);
  EXPECT_EQ(bench.home.bad_messages().total(), 0U);
}

// An orphan that is still at work does not free the CQID that its successor uses.
TEST(PortLost, COH_3_10_AnOldRequestDoesNotEndANewOne) {
  HomeBench bench;
  bench.hold(0, LineState::kExclusive);
  bench.request(1, D2hReq::kRdOwn, 1, 0);
  const std::uint16_t snoop = bench.snooped(0, H2dReq::kSnpInv);
  bench.home.port_lost(1, bench.out);
  bench.request(1, D2hReq::kRdShared, 1, 0x80);
  bench.answer(0, D2hRsp::kRspIHitSE, snoop);
  bench.request(1, D2hReq::kRdShared, 1, 0xc0);
  EXPECT_EQ(bench.home.bad_messages()[BadMessage::kIdInUse], 1U);
}

TEST(PortLost, COH_3_10_ACacheLosesAllAndBeginsAnew) {
  SingleWriterMonitor monitor;
  MonitoredAgent told(monitor, 0), other(monitor, 1);
  DeviceCache cache({4, 2, 8, 0, true}, &told);
  CxlOutput out;
  CoreResults done;
  const auto write = [&](std::uint64_t address) {
    cache.request({CoreOp::kWrite, 0, address, kAllBytes, {}}, out, done);
    CxlMessage go = message_of(CxlChannel::kH2dRsp, H2dRsp::kGo, out.back().message.id);
    go.rsp_data = static_cast<std::uint16_t>(GoState::kExclusive);
    cache.receive(go, {}, out, done);
  };
  write(0);
  write(0x100);                                                         // the same set
  cache.request({CoreOp::kWrite, 0, 0x200, kAllBytes, {}}, out, done);  // one of them leaves
  ASSERT_EQ(cache.outstanding(), 2U);
  EXPECT_EQ(cache.lose_all(), 2U) << "the line in its way, and the one on its way out";
  EXPECT_EQ(cache.outstanding(), 0U);
  for (const std::uint64_t line : {0x0, 0x100, 0x200}) {
    EXPECT_EQ(cache.state(line), LineState::kInvalid);
    other.line_state(line, LineState::kModified);
  }
  EXPECT_EQ(monitor.count(), 0U) << "the monitor was told";
  EXPECT_EQ(cache.obstacle({CoreOp::kWrite, 0, 0x200, kAllBytes, {}}), CoreObstacle::kNone);
}

}  // namespace
}  // namespace flitwise::test::port_lost_test
