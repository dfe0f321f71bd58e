// SPDX-License-Identifier: Apache-2.0
// Translation Completions that the agent of the model never sends, made by hand, at a device that
// waits for one. docs/rules/ats.md
#include <gtest/gtest.h>

#include "ats/translation_completion.h"
#include "system/ats_bench.h"
#include "tlp/splitter.h"

namespace flitwise::ats_completion_test {
namespace {

using test::AtsBench;

using test::kAsk;
using test::kPlain;
using test::kTranslated;

/// The agent is slow, so that the answer by hand comes first; its own is unexpected then.
class AtsCompletions : public ::testing::Test {
 protected:
  /// One read, or write, of page 1, whose Translation Request is out.
  void ask(std::vector<std::string> sets = {}, bool is_write = false) {
    sets.emplace_back("iommu.timing.paging_cache=20us");
    bench = std::make_unique<AtsBench>(sets);
    bench->map(5, 5);
    bench->map(1, 1);
    bench->translate();
    bench->fill(1, 0x11);
    bench->fill(9, 0x99);
    bench->read(5);  // the agent knows the context from now on
    ASSERT_TRUE(bench->finish());
    bench->wire.clear();
    token = is_write ? bench->write(1, 0x77) : bench->read(1);
    bench->run(Time::from_us(1));
    ASSERT_EQ(bench->wire.up.size(), 1U);
    request = bench->wire.up.front();
    ASSERT_EQ(request.at, kAsk);
  }
  /// Page 9, with all rights.
  static TranslationEntry page() {
    TranslationEntry entry;
    entry.translated = AtsBench::physical(9);
    entry.read = entry.write = true;
    return entry;
  }
  void give(const Tlp& completion, const std::vector<TranslationEntry>& entries = {}) {
    PacketRef packet = bench->bench.machine.pool.make(PacketKind::kTlp);
    packet->tlp = completion;
    packet->is_raw = true;
    packet->payload.resize(entries.size() * kTranslationBytes);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      store_wire_u64(packet->payload.data() + i * kTranslationBytes, encode_entry(entries[i]));
    }
    packet->payload_bytes = static_cast<std::uint32_t>(packet->payload.size());
    bench->bench.machine.fabric().root_ports[0]->send(std::move(packet), Time{});
  }
  Tlp data(unsigned entries, unsigned byte_count, unsigned lower_address) const {
    CompletionPiece piece;
    piece.length_dw = static_cast<std::uint16_t>(2 * entries);
    piece.bytes = 8 * entries;
    piece.byte_count = static_cast<std::uint16_t>(byte_count);
    piece.lower_address = static_cast<std::uint8_t>(lower_address);
    return translation_cpld(request, piece);
  }
  void give_entry(const TranslationEntry& entry) { give(data(1, 8, 56), {entry}); }
  void give_status(CplStatus status) {
    Tlp completion;
    start_completion(completion, request);
    end_without_data(completion, request, status);
    give(completion);
  }
  /// Another read of page 1 is over.
  std::uint32_t again() {
    const std::uint32_t other = bench->read(1);
    EXPECT_TRUE(bench->finish());
    return other;
  }
  bool finish() { return bench->finish(); }
  std::uint8_t first_byte(std::uint32_t of) const { return bench->data(of).at(0); }

  std::unique_ptr<AtsBench> bench;
  std::uint32_t token = 0;
  Tlp request;
};

TEST_F(AtsCompletions, TCP_03_AReplyInOnePieceIsUsed) {
  ask();
  give_entry(page());
  ASSERT_TRUE(finish());
  EXPECT_EQ(first_byte(token), 0x99);
  EXPECT_EQ(bench->errors("unexpected_completion"), 1U);  // what the agent says later [ATR-25]
}

// [TCP-01]
TEST_F(AtsCompletions, TCP_01_AReplyInTwoPiecesBringsAllItsPages) {
  ask({"device.atc.translations=2"});
  ASSERT_EQ(request.length_dw, 4U);
  TranslationEntry next = page();
  next.translated = AtsBench::physical(10);
  give(data(1, 16, 56), {page()});
  give(data(1, 8, 0), {next});
  ASSERT_TRUE(finish());
  EXPECT_EQ(first_byte(token), 0x99);
  bench->fill(10, 0xaa);
  const std::uint32_t other = bench->read(2);
  ASSERT_TRUE(finish());
  EXPECT_EQ(first_byte(other), 0xaa);
  EXPECT_EQ(bench->reads(kAsk), 1U);
}

// [TCP-02]
TEST_F(AtsCompletions, TCP_02_WithoutItsFirstPieceAReplyIsVoid) {
  ask({"device.atc.translations=2"});
  give(data(1, 8, 0), {page()});
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->errors("bad_translation_completion"), 1U);
  EXPECT_EQ(bench->reads(kTranslated), 0U);
  EXPECT_EQ(first_byte(token), 0x11);
}

// [TCP-05] [TCP-07] [TCP-08] [TCP-23] What cannot be leaves no translation; the ATC goes on.
TEST_F(AtsCompletions, TCP_05_StatusCrsIsMalformed) {
  ask();
  give_status(CplStatus::kRRS);
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->errors("malformed_tlp"), 1U);
  EXPECT_EQ(bench->reads(kPlain), 1U);
  again();
  EXPECT_EQ(bench->reads(kAsk), 2U);
}
TEST_F(AtsCompletions, TCP_07_AReservedStatusTurnsTheAtcOff) {
  ask();
  give_status(static_cast<CplStatus>(7));
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->errors("translation_unsupported"), 1U);
  again();
  EXPECT_EQ(bench->reads(kAsk), 1U);
  EXPECT_EQ(bench->reads(kPlain), 2U);
}
TEST_F(AtsCompletions, TCP_08_SuccessWithoutDataLeavesNothing) {
  ask();
  give_status(CplStatus::kSC);
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->errors("bad_translation_completion"), 1U);
  EXPECT_EQ(bench->reads(kPlain), 1U);
}
TEST_F(AtsCompletions, TCP_23_MoreThanWasAskedForIsVoid) {
  ask();
  give(data(2, 16, 48), {page(), page()});
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->errors("bad_translation_completion"), 1U);
  EXPECT_EQ(bench->reads(kTranslated), 0U);
}

// [TCP-06] An error of this transfer alone.
TEST_F(AtsCompletions, TCP_06_StatusCaFailsWhoWaitedAndNobodyElse) {
  ask();
  give_status(CplStatus::kCA);
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->status(token), TransferStatus::kCompleterAbort);
  EXPECT_EQ(bench->errors("translation_aborted"), 1U);
  EXPECT_EQ(bench->reads(kPlain) + bench->reads(kTranslated), 0U);
  const std::uint32_t other = again();
  EXPECT_EQ(bench->status(other), TransferStatus::kDone);
  EXPECT_EQ(bench->reads(kAsk), 2U);
  bench->expect_all_checks_hold();
}

// [TCP-10] Nothing but zero bytes is read by it.
TEST_F(AtsCompletions, TCP_10_WithWAloneNothingIsReadTranslated) {
  ask();
  TranslationEntry entry = page();
  entry.read = false;
  give_entry(entry);
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->reads(kTranslated), 0U);
  EXPECT_EQ(first_byte(token), 0x11);
  bench->read(1, 0);
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->reads(kTranslated), 1U);
}

// [TCP-12] It is kept, and nobody asks again.
TEST_F(AtsCompletions, TCP_12_WithUThePageIsUsedUntranslated) {
  ask();
  TranslationEntry entry = page();
  entry.untranslated_only = true;
  give_entry(entry);
  ASSERT_TRUE(finish());
  again();
  EXPECT_EQ(bench->reads(kAsk), 1U);
  EXPECT_EQ(bench->reads(kPlain), 2U);
  EXPECT_EQ(bench->reads(kTranslated), 0U);
  EXPECT_EQ(first_byte(token), 0x11);
}

// [TCP-15] [SFE-10] Below the STU: as if it were UR.
TEST_F(AtsCompletions, TCP_15_AnEntryBelowTheStuTurnsTheAtcOff) {
  bench = std::make_unique<AtsBench>(std::vector<std::string>{}, false);
  bench->map(0, 7);
  bench->translate();
  bench->enable(0, true, 1);
  bench->read(0);
  ASSERT_TRUE(bench->finish());
  bench->read(0);
  ASSERT_TRUE(bench->finish());
  EXPECT_EQ(bench->reads(kAsk), 1U);
  EXPECT_EQ(bench->reads(kPlain), 2U);
  EXPECT_EQ(bench->errors("translation_unsupported"), 1U);
}

// [TCP-16] [SFE-02] Larger than asked for: the neighbour needs no request.
TEST_F(AtsCompletions, TCP_16_ALargerEntryServesItsNeighbours) {
  ask();
  TranslationEntry entry = page();
  entry.translated = AtsBench::physical(8);
  entry.size_bits = 13;
  give_entry(entry);
  ASSERT_TRUE(finish());
  EXPECT_EQ(first_byte(token), 0x99);   // page 1 is the second half
  bench->send(bench->invalidation(2));  // next to it: nothing goes
  const std::uint32_t other = again();
  EXPECT_EQ(first_byte(other), 0x99);
  EXPECT_EQ(bench->reads(kAsk), 1U);
}

// [ATR-15] NW was asked for; W may be there all the same, and serves a write then.
TEST_F(AtsCompletions, ATR_15_WithWThatCameUnaskedAWriteNeedsNoRequest) {
  ask();
  give_entry(page());
  ASSERT_TRUE(finish());
  bench->write(1, 0x55);
  ASSERT_TRUE(finish());
  EXPECT_EQ(bench->reads(kAsk), 1U);
  EXPECT_EQ(bench->writes(kTranslated), 1U);
  EXPECT_EQ(bench->peek(9).at(0), 0x55);
}

// [INV-27] An invalidation that overtakes the reply leaves nothing of it behind.
TEST_F(AtsCompletions, INV_27_NothingStaleStaysBehindAnInvalidation) {
  ask();
  bench->send(bench->invalidation(1));
  give_entry(page());  // old: page 9
  ASSERT_TRUE(finish());
  EXPECT_EQ(first_byte(token), 0x11);  // what the agent says now
  EXPECT_EQ(bench->reads(kAsk), 2U);
}

}  // namespace
}  // namespace flitwise::ats_completion_test
