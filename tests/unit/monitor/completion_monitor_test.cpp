// SPDX-License-Identifier: Apache-2.0
// Tags and answers as a watcher sees them. [LNK-9.8] to [LNK-9.13] [LNK-9.18] to [LNK-9.21]
#include "monitor/completion_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tlp/splitter.h"
#include "unit/monitor/monitor_support.h"

namespace flitwise::completion_monitor_test {
namespace {

using test::packet;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CompletionMonitorTest : public ::testing::Test {
 protected:
  PacketRef read(std::uint64_t address, std::uint64_t bytes, std::uint16_t tag = 5) {
    RequestPiece piece;
    RequestSplitter(address, bytes, 4096).next(piece);
    PacketRef request = packet(pool, TlpType::kMRd, piece.length_dw, piece.address);
    request->tlp.first_be = piece.first_be;
    request->tlp.last_be = piece.last_be;
    request->tlp.tag = tag;
    return request;
  }
  void ask(const PacketRef& request, Time when = {}) {
    request->stamp(Hop::kIssue, when);
    answers.sent(*request, when);
  }
  std::vector<PacketRef> answers_to(const PacketRef& request, unsigned mps = 256,
                                    unsigned rcb = 64) {
    std::vector<PacketRef> all;
    CompletionSplitter splitter(request->tlp, mps, rcb);
    CompletionPiece piece;
    while (splitter.next(piece)) {
      PacketRef answer = pool.make(PacketKind::kTlp);
      start_completion(answer->tlp, request->tlp);
      answer->tlp.type = TlpType::kCplD;
      answer->tlp.length_dw = piece.length_dw;
      answer->tlp.byte_count = piece.byte_count;
      answer->tlp.lower_address = piece.lower_address;
      all.push_back(answer);
    }
    return all;
  }
  void give(const PacketRef& answer) { answers.delivered(*answer, {}); }

  PacketPool pool;
  test::Reported reported;
  CompletionMonitor answers{reported.reporter, reported.reporter, Time::from_us(50), 64};
};

// [LNK-9.10] [LNK-9.12] [LNK-9.13] The model's splitter and the monitor were written apart.
TEST_F(CompletionMonitorTest, EverySplitOfTheModelIsFine) {
  for (std::uint64_t address = 0x1000; address < 0x1090; ++address) {
    for (const unsigned bytes : {0U, 1U, 2U, 3U, 4U, 5U, 63U, 64U, 65U, 200U, 512U, 1000U}) {
      const PacketRef request = read(address, bytes);
      ask(request);
      for (const PacketRef& answer : answers_to(request)) {
        give(answer);
      }
      ASSERT_THAT(reported.rules(), IsEmpty())
          << bytes << " bytes at " << address << ": " << text_of(reported.log.first());
    }
  }
}

// [LNK-9.8]
TEST_F(CompletionMonitorTest, ATagIsUsedAgainOnlyWhenItIsBack) {
  const PacketRef first = read(0x1000, 64);
  ask(first);
  ask(read(0x2000, 64));
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.8"));
}
// [LNK-9.18]
TEST_F(CompletionMonitorTest, ATagIsFreeAfterTheCompletionTimeout) {
  ask(read(0x1000, 64));
  ask(read(0x2000, 64), Time::from_us(50));
  EXPECT_THAT(reported.rules(), IsEmpty());
}
TEST_F(CompletionMonitorTest, TagsOfFunctionsAreApart) {
  ask(read(0x1000, 64));
  const PacketRef other = read(0x2000, 64);
  other->tlp.requester_id = Bdf::of(1, 0, 1);
  ask(other);
  EXPECT_THAT(reported.rules(), IsEmpty());
}
TEST_F(CompletionMonitorTest, AnAnswerToNobodyIsNoticed) {
  const PacketRef request = read(0x1000, 64);
  ask(request);
  const std::vector<PacketRef> all = answers_to(request);
  give(all[0]);
  EXPECT_THAT(reported.rules(), IsEmpty());
  give(all[0]);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.8"));
}

class TranslationAnswers : public CompletionMonitorTest {
 protected:
  /// Asks for four translations; gives CplDs of {entries, Byte Count, Lower Address}.
  std::vector<std::string> rules_after(std::vector<std::array<unsigned, 3>> completions) {
    const PacketRef request = packet(pool, TlpType::kMRd, 8, 0x4000);
    request->tlp.at = AddressType::kTranslationRequest;
    request->tlp.first_be = request->tlp.last_be = 0xf;
    ask(request);
    for (const auto& [entries, byte_count, lower] : completions) {
      const PacketRef answer = pool.make(PacketKind::kTlp);
      start_completion(answer->tlp, request->tlp);
      answer->tlp.type = TlpType::kCplD;
      answer->tlp.length_dw = static_cast<std::uint16_t>(2 * entries);
      answer->tlp.byte_count = static_cast<std::uint16_t>(byte_count);
      answer->tlp.lower_address = static_cast<std::uint8_t>(lower);
      give(answer);
    }
    return reported.rules();
  }
};

// [TCP-01] [TCP-03] [ATR-19]
TEST_F(TranslationAnswers, TCP_03_AShortReplyThatEndsAtRcbIsFine) {
  EXPECT_THAT(rules_after({{1, 8, 56}}), IsEmpty());
}
TEST_F(TranslationAnswers, TCP_01_TwoCompletionsMeetAtRcb) {
  EXPECT_THAT(rules_after({{1, 24, 56}, {2, 16, 0}}), IsEmpty());
}
TEST_F(TranslationAnswers, TCP_03_AReplyThatEndsElsewhereIsNoticed) {
  EXPECT_THAT(rules_after({{1, 8, 0}}), ElementsAre("TCP-01"));
}
TEST_F(TranslationAnswers, TCP_01_ASecondCompletionBehindTheBoundaryIsNoticed) {
  EXPECT_THAT(rules_after({{1, 24, 56}, {2, 16, 8}}), ElementsAre("TCP-01"));
}
TEST_F(TranslationAnswers, TCP_23_MoreThanWasAskedForIsNoticed) {
  EXPECT_THAT(rules_after({{1, 40, 56}}), ElementsAre("TCP-01"));
}

// [LNK-9.12]
TEST_F(CompletionMonitorTest, AWrongByteCountIsNoticed) {
  const PacketRef request = read(0x1000, 512);
  ask(request);
  const PacketRef answer = answers_to(request)[0];
  answer->tlp.byte_count = 508;
  give(answer);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.12"));
}
// [LNK-9.13]
TEST_F(CompletionMonitorTest, AWrongLowerAddressIsNoticed) {
  const PacketRef request = read(0x1004, 512);
  ask(request);
  const PacketRef answer = answers_to(request)[0];
  answer->tlp.lower_address = 8;
  give(answer);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.13"));
}
// [LNK-9.10]
TEST_F(CompletionMonitorTest, ASplitOffTheBoundaryIsNoticed) {
  const PacketRef request = read(0x1000, 512);
  ask(request);
  const PacketRef answer = answers_to(request)[0];
  answer->tlp.length_dw = 8;
  give(answer);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.10"));
}
// [LNK-9.12]
TEST_F(CompletionMonitorTest, MoreThanIsOwedIsNoticed) {
  const PacketRef request = read(0x1000, 64);
  ask(request);
  const PacketRef answer = answers_to(request)[0];
  answer->tlp.length_dw = 17;
  give(answer);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.12"));
}
TEST_F(CompletionMonitorTest, LNK_13_2_ASwitchMaySendUpCompletionsOfPeersWithoutRelaxedOrdering) {
  CompletionMonitor above_switch{reported.reporter, reported.reporter, Time::from_us(50), 64, true};
  const PacketRef answer = answers_to(read(0x1000, 64))[0];
  answer->tlp.requester_id = Bdf::of(3, 0, 0);
  above_switch.delivered(*answer, {});
  EXPECT_THAT(reported.rules(), IsEmpty());
  answer->tlp.relaxed_ordering = true;
  above_switch.delivered(*answer, {});
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.8"));
  answer->tlp.relaxed_ordering = false;
  answer->tlp.requester_id = Bdf::of(0, 0, 0);
  above_switch.delivered(*answer, {});
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.8", "LNK-9.8"));
}
// [LNK-9.19]
TEST_F(CompletionMonitorTest, AnErrorComesWithoutDataAndEndsTheRequest) {
  const PacketRef request = read(0x1000, 512);
  ask(request);
  PacketRef answer = pool.make(PacketKind::kTlp);
  start_completion(answer->tlp, request->tlp);
  end_without_data(answer->tlp, request->tlp, CplStatus::kUR);
  give(answer);
  ask(request);
  EXPECT_THAT(reported.rules(), IsEmpty());
  answer->tlp.type = TlpType::kCplD;
  answer->tlp.length_dw = 128;
  give(answer);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.19"));
}
// [LNK-9.21]
TEST_F(CompletionMonitorTest, ALockedReadHasALockedAnswer) {
  const PacketRef request = read(0x1000, 64);
  request->tlp.type = TlpType::kMRdLk;
  ask(request);
  give(answers_to(request)[0]);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-9.21"));
}

// [LNK-9.8] The answer to the second read is not taken for one to the first.
TEST_F(CompletionMonitorTest, AnAnswerToAHandleIsFoundByHandleAndTag) {
  const PacketRef first = read(0x1000, 64, 5), second = read(0x2000, 128, 5);
  first->tlp.requester_id = Bdf{3};
  second->tlp.requester_id = Bdf{4};
  for (const PacketRef& request : {first, second}) {
    request->tlp.id_is_handle = true;
    ask(request);
  }
  for (const PacketRef& request : {second, first}) {
    for (const PacketRef& answer : answers_to(request)) {
      answer->tlp.requester_id = request->tlp.requester_id;
      answer->tlp.id_is_handle = true;
      give(answer);
    }
  }
  EXPECT_THAT(reported.rules(), IsEmpty());
}

}  // namespace
}  // namespace flitwise::completion_monitor_test
