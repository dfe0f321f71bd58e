// SPDX-License-Identifier: Apache-2.0
// A page is taken from all caches: what was granted is drained first, then its lines are snooped.
// [COH-3.14]
#include <gtest/gtest.h>

#include "unit/coherence/coherence_support.h"

namespace flitwise::test::recall_test {
namespace {

using cxl::D2hReq;
using cxl::D2hRsp;
using cxl::GoState;
using cxl::H2dReq;
using cxl::H2dRsp;

constexpr std::uint64_t kPage = 0x1000;

struct RecallBench : HomeBench {
  void request_at(std::uint64_t arrival, std::uint8_t port, D2hReq opcode, std::uint16_t cqid,
                  std::uint64_t address = kPage) {
    home.receive(port, message_of(CxlChannel::kD2hReq, opcode, cqid, address), {}, out,
                 {{}, arrival});
  }
  void recall(std::uint64_t arrival) { home.recall(kPage, 0x1000, arrival, out); }
};

TEST(Recall, COH_3_14_AModifiedLineGoesToMemoryAndNobodyHasIt) {
  RecallBench bench;
  bench.hold(1, LineState::kExclusive, kPage);
  bench.recall(5);
  const std::uint16_t uqid = bench.snooped(1, H2dReq::kSnpInv);
  EXPECT_TRUE(bench.home.has_older_than(6));
  bench.answer(1, D2hRsp::kRspIFwdM, uqid);
  bench.data(1, uqid, 8);
  EXPECT_TRUE(bench.home.has_older_than(6)) << "memory does not have it yet";
  bench.run_memory();
  EXPECT_FALSE(bench.home.has_older_than(6));
  EXPECT_EQ(bench.in_memory(kPage), 8U);
  EXPECT_TRUE(bench.home.holders(kPage).empty());
  EXPECT_TRUE(bench.sent_nothing_more()) << "nobody has asked for it";
  EXPECT_EQ(bench.home.outstanding(), 0U);
}

TEST(Recall, COH_3_14_AllSharersAreAskedAndOtherPagesAreNot) {
  RecallBench bench;
  bench.hold(0, LineState::kShared, kPage + 0x40);
  bench.hold(2, LineState::kShared, kPage + 0x40);
  bench.hold(1, LineState::kExclusive, kPage - 0x40);
  bench.hold(1, LineState::kExclusive, 2 * kPage);
  bench.recall(5);
  bench.answer(0, D2hRsp::kRspIHitSE, bench.snooped(0, H2dReq::kSnpInv));
  bench.answer(2, D2hRsp::kRspIHitSE, bench.snooped(2, H2dReq::kSnpInv));
  EXPECT_TRUE(bench.sent_nothing_more());
  EXPECT_FALSE(bench.home.has_older_than(6));
  EXPECT_TRUE(bench.home.holders(2 * kPage).is_owner(1));
}

// In the wrong order: what was granted before is served behind the snoops, and the cache has the
// line again. So the recall comes when has_older_than() says that nothing of it is left.
TEST(Recall, COH_3_14_AGrantThatIsNotDrainedBringsTheLineBack) {
  RecallBench bench;
  bench.request_at(1, 0, D2hReq::kRdOwn, 9);
  EXPECT_TRUE(bench.home.has_older_than(2)) << "at memory";
  bench.recall(2);
  bench.run_memory();
  bench.expect_go(0, 9, GoState::kExclusive);
  EXPECT_TRUE(bench.home.holders(kPage).is_owner(0)) << "the page is not free";
  EXPECT_FALSE(bench.home.has_older_than(2));
  bench.out.clear();
  bench.recall(2);
  bench.answer(0, D2hRsp::kRspIHitSE, bench.snooped(0, H2dReq::kSnpInv));
  EXPECT_TRUE(bench.home.holders(kPage).empty());
}

TEST(Recall, COH_3_14_APulledWriteIsNotDoneBeforeMemoryHasIt) {
  RecallBench bench;
  bench.request_at(1, 0, D2hReq::kItoMWr, 9);
  const std::uint16_t uqid = bench.responded(0, H2dRsp::kGoWritePull, 9);
  EXPECT_TRUE(bench.home.has_older_than(2)) << "its data may still come";
  bench.data(0, uqid, 7);
  EXPECT_TRUE(bench.home.has_older_than(2));
  bench.run_memory();
  EXPECT_FALSE(bench.home.has_older_than(2));
}

TEST(Recall, COH_3_14_OneThatMeetsAnEvictionHasItsTurnBehindIt) {
  RecallBench bench;
  bench.hold(0, LineState::kExclusive, kPage);
  bench.request_at(1, 0, D2hReq::kDirtyEvict, 4);
  const std::uint16_t uqid = bench.responded(0, H2dRsp::kGoWritePull, 4);
  bench.recall(2);
  bench.data(0, uqid, 6);
  bench.run_memory();
  EXPECT_EQ(bench.in_memory(kPage), 6U);
  EXPECT_FALSE(bench.home.has_older_than(3));
  EXPECT_TRUE(bench.sent_nothing_more());
}

}  // namespace
}  // namespace flitwise::test::recall_test
