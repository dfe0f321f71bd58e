// SPDX-License-Identifier: Apache-2.0
// Invalidate Requests at a device that uses translations. docs/rules/ats.md
#include <gtest/gtest.h>

#include "system/ats_bench.h"

namespace flitwise::ats_invalidation_test {
namespace {

using test::AtsBench;

using test::kAsk;
using test::kPlain;
using test::kTranslated;

std::vector<InvalidateCompletion> answers(const AtsBench& bench) {
  std::vector<InvalidateCompletion> all;
  for (const Tlp& tlp : bench.wire.messages(msg::kInvalidateCompletion)) {
    all.push_back(invalidate_completion_of(tlp));
  }
  return all;
}

// [INV-01] The page moves: after the invalidation the device finds it where it is now.
TEST(AtsInvalidation, INV_01_TheEntryGoesAndACompletionSaysSo) {
  AtsBench bench;
  const MappedEntries entries = bench.map(0, 7);
  bench.translate();
  bench.fill(7, 0x70);
  bench.fill(8, 0x80);
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  bench.poke(entries.first_stage.back(), AtsBench::physical(8) | 7);
  bench.forget_in_agent();
  bench.send(bench.invalidation(0, 5));
  ASSERT_TRUE(bench.finish());
  const auto all = answers(bench);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].itag_vector, 1U << 5);
  EXPECT_EQ(all[0].completion_count, 1U);
  const std::uint32_t token = bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.data(token).at(0), 0x80);
  EXPECT_EQ(bench.reads(kAsk), 2U);
  EXPECT_EQ(bench.result().invalidations, 1U);
  bench.expect_all_checks_hold();
}

// [INV-03] [INV-23]
TEST(AtsInvalidation, INV_23_WithEnableClearItIsAnsweredAllTheSame) {
  AtsBench bench({}, false);
  bench.send(bench.invalidation(3));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(answers(bench).size(), 1U);
}

// [INV-25]
TEST(AtsInvalidation, INV_25_BusMasterEnableDoesNotMatter) {
  AtsBench bench;
  bench.configure({{true, bench.bdf(0), cfg::kCommand, 0, 0x3}});
  bench.send(bench.invalidation(0));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(answers(bench).size(), 1U);
}

// [INV-24]
TEST(AtsInvalidation, INV_24_WithoutAtsItIsUnsupported) {
  AtsBench bench({"device.atc.enabled=false"}, false);
  bench.send(bench.invalidation(0));
  ASSERT_TRUE(bench.finish());
  EXPECT_TRUE(answers(bench).empty());
  EXPECT_EQ(bench.errors("unsupported_request"), 1U);
}

// [INV-04] The memory is slow: the completion comes after the data that was read by the
// translation.
TEST(AtsInvalidation, INV_04_TheCompletionWaitsForReadsByTheTranslation) {
  AtsBench bench({"host.memory.timing.latency=10us"});
  bench.map(0, 7);
  bench.map(1, 8);
  bench.translate();
  bench.read(0);
  bench.read(1);
  ASSERT_TRUE(bench.finish());
  bench.read(0);
  bench.run(Time::from_us(1));
  bench.send(bench.invalidation(0, 1));
  bench.send(bench.invalidation(1, 2));
  bench.run(Time::from_us(5));
  ASSERT_EQ(answers(bench).size(), 1U);  // nobody reads by the other one
  EXPECT_EQ(answers(bench)[0].itag_vector, 1U << 2);
  ASSERT_TRUE(bench.finish());
  ASSERT_EQ(answers(bench).size(), 2U);
  EXPECT_EQ(answers(bench)[1].itag_vector, 1U << 1);
  bench.expect_all_checks_hold();
}

// [INV-07] Writes by the translation stand before the completion.
TEST(AtsInvalidation, INV_07_TheCompletionGoesBehindTheWrites) {
  AtsBench bench({"link.credits.posted_headers=2"});
  bench.map(0, 7);
  bench.translate();
  bench.write(0, 1);
  ASSERT_TRUE(bench.finish());
  bench.wire.clear();
  bench.write(0, 2, 0, 4096);
  bench.run(Time::from_ns(40));
  bench.send(bench.invalidation(0));
  ASSERT_TRUE(bench.finish());
  ASSERT_EQ(answers(bench).size(), 1U);
  bool is_over = false;
  for (const Tlp& tlp : bench.wire.up) {
    is_over = is_over || tlp.message_code == msg::kInvalidateCompletion;
    EXPECT_FALSE(is_over && tlp.type == TlpType::kMWr && tlp.at == kTranslated &&
                 tlp.address / AtsBench::kPage == AtsBench::physical(7) / AtsBench::kPage)
        << "a write by the old translation behind the completion";
  }
}

// [INV-05] [TCP-19] It overtakes the reply to a request: the reply is not used.
TEST(AtsInvalidation, INV_05_AReplyThatItOvertookIsDiscarded) {
  AtsBench bench({"iommu.timing.paging_cache=20us"});
  bench.map(0, 0);
  bench.map(1, 1);
  bench.translate();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  const std::uint32_t token = bench.read(1);
  bench.run(Time::from_us(2));
  bench.send(bench.invalidation(1));
  bench.run(Time::from_us(2));
  EXPECT_EQ(answers(bench).size(), 1U);
  EXPECT_EQ(bench.reads(kAsk), 2U);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 3U);  // it asks anew
  EXPECT_EQ(bench.status(token), TransferStatus::kDone);
  EXPECT_EQ(bench.reads(kPlain), 0U);
}

// [INV-17]
TEST(AtsInvalidation, INV_17_AnItagThatIsOutIsRefused) {
  AtsBench bench({"host.memory.timing.latency=10us"});
  bench.map(0, 7);
  bench.translate();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  bench.read(0);
  bench.run(Time::from_us(1));
  bench.send(bench.invalidation(0, 1));
  bench.send(bench.invalidation(0, 1));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(answers(bench).size(), 1U);
  EXPECT_EQ(bench.errors("itag_in_use"), 1U);
}

// [INV-19] 32 of them, with all completions held back by a read.
TEST(AtsInvalidation, INV_19_ThirtyTwoAreTakenWithoutAnAnswer) {
  AtsBench bench({"host.memory.timing.latency=10us"});
  bench.map(0, 7);
  bench.translate();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  bench.read(0);
  bench.run(Time::from_us(1));
  for (std::uint8_t itag = 0; itag < kItags; ++itag) {
    bench.send(bench.invalidation(0, itag));
  }
  bench.run(Time::from_us(5));
  EXPECT_EQ(bench.result().invalidations, kItags);
  EXPECT_TRUE(answers(bench).empty());
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(answers(bench).size(), kItags);
}

// [INV-11]
TEST(AtsInvalidation, INV_11_OneCompletionMayAnswerSeveralItags) {
  AtsBench bench({"host.memory.timing.latency=10us", "device.atc.coalesce=true"});
  bench.map(0, 7);
  bench.translate();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  bench.read(0);
  bench.run(Time::from_us(1));
  for (std::uint8_t itag = 0; itag < 4; ++itag) {
    bench.send(bench.invalidation(0, itag));
  }
  ASSERT_TRUE(bench.finish());
  ASSERT_EQ(answers(bench).size(), 1U);
  EXPECT_EQ(answers(bench)[0].itag_vector, 0xfU);
}

// [INV-34] [INV-33] Without PASID it leaves entries with PASID alone; a global one takes all of
// them.
TEST(AtsInvalidation, INV_33_AGlobalOneTakesEveryPasid) {
  AtsBench bench;
  bench.map(0, 7, {}, 0);
  bench.map(0, 8, {}, 1);
  bench.translate();
  bench.read(0, 64, 0);
  bench.read(0, 64, 1);
  ASSERT_TRUE(bench.finish());
  InvalidateRequest request = bench.invalidation(0);
  request.pasid.reset();
  bench.send(request);
  ASSERT_TRUE(bench.finish());
  bench.read(0, 64, 0);
  bench.read(0, 64, 1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 2U);
  request = bench.invalidation(0, 1);
  request.is_global = true;
  bench.send(request);
  ASSERT_TRUE(bench.finish());
  bench.read(0, 64, 0);
  bench.read(0, 64, 1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 4U);
}

// [INV-21]
TEST(AtsInvalidation, INV_21_ARangeBelowTheStuIsRefusedWhereTheDeviceDoesNotRoundUp) {
  AtsBench bench({"device.atc.rounds_up=false"});
  bench.enable(0, false);
  bench.enable(0, true, 1);
  bench.send(bench.invalidation(0));
  ASSERT_TRUE(bench.finish());
  EXPECT_TRUE(answers(bench).empty());
  EXPECT_EQ(bench.errors("unsupported_request"), 1U);
}

// [CFG-06]
TEST(AtsInvalidation, CFG_06_AnotherStuUnderEnableIsReported) {
  AtsBench bench;
  bench.enable(0, true, 1);
  EXPECT_EQ(bench.errors("stu_changed_while_enabled"), 1U);
}

}  // namespace
}  // namespace flitwise::ats_invalidation_test
