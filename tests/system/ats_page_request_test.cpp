// SPDX-License-Identifier: Apache-2.0
// A device that asks for pages which are not there. docs/rules/ats.md
#include <gtest/gtest.h>

#include "system/ats_bench.h"

namespace flitwise::ats_page_request_test {
namespace {

using test::AtsBench;

using test::kAsk;
using test::kPlain;
using test::kTranslated;

class AtsPageRequests : public ::testing::Test {
 protected:
  void make(std::vector<std::string> sets = {}, std::uint32_t allocation = 32) {
    sets.emplace_back("device.pri.enabled=true");
    bench = std::make_unique<AtsBench>(sets);
    bench->map(1, 1);
    bench->translate();
    bench->enable_pages(true, allocation);
    bench->wire.clear();
  }
  std::vector<Tlp> wishes() { return bench->wire.messages(msg::kPageRequest); }
  /// Until so many Page Requests are out.
  bool run_until_asked(std::size_t count) {
    return bench->bench.run_until([&] { return wishes().size() >= count; });
  }
  void map_there(unsigned page, unsigned to) {
    bench->map(page, to);
    bench->forget_in_agent();
  }
  std::unique_ptr<AtsBench> bench;
};

// [PRI-01] [PRI-08]
TEST_F(AtsPageRequests, PRI_08_AfterSuccessTheDeviceTranslatesAgain) {
  make();
  bench->fill(7, 0x77);
  const std::uint32_t token = bench->read(0);
  ASSERT_TRUE(run_until_asked(1));
  const PageRequest wish = page_request_of(wishes()[0]);
  EXPECT_EQ(wish.page, AtsBench::address(0));
  EXPECT_TRUE(wish.is_last);
  EXPECT_TRUE(wish.read);
  EXPECT_FALSE(wish.write);
  EXPECT_EQ(wish.pasid, bench->endpoint().identity_of(DomainId{0}).pasid);
  map_there(0, 7);
  bench->respond(wishes()[0], PrgCode::kSuccess);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->data(token), std::vector<std::uint8_t>(64, 0x77));
  EXPECT_EQ(bench->reads(kAsk), 2U);
  EXPECT_EQ(bench->reads(kTranslated), 1U);
  EXPECT_EQ(bench->reads(kPlain), 0U);
  EXPECT_EQ(bench->result().page_requests, 1U);
  bench->expect_all_checks_hold();
}

// [PRI-09] Others go on, and may ask.
TEST_F(AtsPageRequests, PRI_09_AfterInvalidRequestTheTransferFailsAlone) {
  make();
  const std::uint32_t lost = bench->read(0);
  ASSERT_TRUE(run_until_asked(1));
  const std::uint32_t other = bench->read(1);
  bench->respond(wishes()[0], PrgCode::kInvalidRequest);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->status(lost), TransferStatus::kUnsupportedRequest);
  EXPECT_EQ(bench->status(other), TransferStatus::kDone);
  EXPECT_EQ(bench->errors("page_refused"), 1U);
  EXPECT_EQ(bench->reads(kPlain), 0U);
  bench->read(0);
  ASSERT_TRUE(run_until_asked(2));
  bench->respond(wishes()[1], PrgCode::kInvalidRequest);
  ASSERT_TRUE(bench->finish());
  bench->expect_all_checks_hold();
}

// [PRI-11] Whoever waits fails; from then on holes go untranslated, as without the interface.
TEST_F(AtsPageRequests, PRI_11_AResponseFailureEndsAllThatWait) {
  make();
  const std::uint32_t first = bench->read(0);
  const std::uint32_t second = bench->read(2);
  ASSERT_TRUE(run_until_asked(2));
  bench->respond(wishes()[0], PrgCode::kResponseFailure);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->status(first), TransferStatus::kUnsupportedRequest);
  EXPECT_EQ(bench->status(second), TransferStatus::kUnsupportedRequest);
  EXPECT_TRUE(bench->endpoint().target().page_requests()->has_response_failure());
  EXPECT_EQ(bench->reads(kPlain), 0U);
  bench->read(0);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(wishes().size(), 2U);
  EXPECT_EQ(bench->reads(kPlain), 1U);
}

// [PRI-12] [PRI-30]
TEST_F(AtsPageRequests, PRI_12_NoMoreAreOutThanTheAllocation) {
  make({}, 2);
  for (const unsigned page : {0U, 2U, 3U}) {
    bench->read(page);
  }
  bench->run(Time::from_us(20));
  ASSERT_EQ(wishes().size(), 2U);
  bench->respond(wishes()[0], PrgCode::kInvalidRequest);
  ASSERT_TRUE(run_until_asked(3));
  bench->respond(wishes()[1], PrgCode::kInvalidRequest);
  bench->respond(wishes()[2], PrgCode::kInvalidRequest);
  ASSERT_TRUE(bench->finish());
  bench->expect_all_checks_hold();
}

TEST_F(AtsPageRequests, WhoMissesTheSamePageWaitsWithTheFirst) {
  make();
  bench->read(0);
  bench->read(0);
  ASSERT_TRUE(run_until_asked(1));
  bench->run(Time::from_us(20));
  ASSERT_EQ(wishes().size(), 1U);
  map_there(0, 7);
  bench->respond(wishes()[0], PrgCode::kSuccess);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->reads(kTranslated), 2U);
}

// [TCP-11] A missing right is asked for too.
TEST_F(AtsPageRequests, TCP_11_AWriteToAReadOnlyPageAsksForIt) {
  make();
  MappingRights rights;
  rights.write = false;
  bench->map(0, 7, rights);
  bench->write(0, 0x12);
  ASSERT_TRUE(run_until_asked(1));
  EXPECT_TRUE(page_request_of(wishes()[0]).write);
  bench->respond(wishes()[0], PrgCode::kInvalidRequest);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->writes(kPlain) + bench->writes(kTranslated), 0U);
}

// [PRI-29]
TEST_F(AtsPageRequests, PRI_29_AnAnswerToNobodyIsReported) {
  make();
  bench->read(0);
  ASSERT_TRUE(run_until_asked(1));
  const Tlp wish = wishes()[0];
  bench->respond(wish, PrgCode::kInvalidRequest);
  bench->respond(wish, PrgCode::kInvalidRequest);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->errors("unexpected_prg_response"), 1U);
  EXPECT_TRUE(bench->endpoint().target().page_requests()->has_unexpected_index());
}

// [PRI-20] [PRI-23] Reset with Enable clear: nobody is owed an answer, and who waits goes on.
TEST_F(AtsPageRequests, PRI_23_AfterAResetWhoWaitsGoesUntranslated) {
  make();
  bench->read(0);
  ASSERT_TRUE(run_until_asked(1));
  bench->enable_pages(false);
  EXPECT_FALSE(bench->endpoint().target().page_requests()->is_stopped());
  const std::uint16_t start = bench->start_of(0, cfg::kExtPri);
  bench->configure({{true, bench->bdf(0), static_cast<std::uint16_t>(start + cfg::pri::kControlDw),
                     cfg::pri::kReset, 0x1}});
  EXPECT_TRUE(bench->endpoint().target().page_requests()->is_stopped());
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->reads(kPlain), 1U);
}

// [PRI-06] [PRI-07] Behind all page requests of the process that ends.
TEST_F(AtsPageRequests, PRI_06_AStopMarkerEndsAContext) {
  make();
  Transfer last;
  last.op = Op::kRead;
  last.address = AtsBench::address(1);
  last.bytes = 64;
  last.ends_context = true;
  bench->engine.order(last);
  bench->endpoint().wake();
  ASSERT_TRUE(bench->finish());
  ASSERT_EQ(wishes().size(), 1U);
  const PageRequest marker = page_request_of(wishes()[0]);
  EXPECT_TRUE(marker.is_stop_marker());
  EXPECT_EQ(marker.pasid, OptionalId<Pasid>(Pasid{0}));
}

// [PRI-24]
TEST_F(AtsPageRequests, PRI_25_AnAllocationUnderEnableIsReported) {
  make();
  bench->enable_pages();
  EXPECT_EQ(bench->errors("page_request_register_misused"), 1U);
}

// [PRI-38] The transfer that waited goes on without the interface.
TEST_F(AtsPageRequests, PRI_38_AfterAResetAnswersAreUnexpected) {
  make();
  bench->read(0);
  ASSERT_TRUE(run_until_asked(1));
  const Tlp wish = wishes()[0];
  bench->endpoint().hot_reset();
  bench->run(Time::from_us(20));
  bench->respond(wish, PrgCode::kSuccess);
  bench->run(Time::from_us(20));
  EXPECT_EQ(bench->errors("unexpected_prg_response"), 1U);
  bench->configure({{true, bench->bdf(0), cfg::kCommand, cfg::kCommandBusMaster, 0x3}});
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->reads(kPlain), 1U);
  EXPECT_EQ(bench->reads(kTranslated), 0U);
}

}  // namespace
}  // namespace flitwise::ats_page_request_test
