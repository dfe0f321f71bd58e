// SPDX-License-Identifier: Apache-2.0
// Translation Completions from the agent to the function. Catalogue ids in the names.
#include "ats/translation_completion.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "ats/ats_messages.h"
#include "flitwise/error.h"
#include "tlp/splitter.h"

namespace flitwise::translation_completion_test {
namespace {

using Verdict = TranslationVerdict;

TranslationEntry page(std::uint64_t translated, unsigned size_bits = 12) {
  TranslationEntry entry;
  entry.translated = translated;
  entry.size_bits = static_cast<std::uint8_t>(size_bits);
  entry.read = entry.write = true;
  return entry;
}
TranslationEntry hole(unsigned size_bits = 12) {
  return no_access_entry(size_bits - 12);
}

Tlp request_for(std::uint64_t address, unsigned translations, unsigned rcb = 64) {
  TranslationSettings settings;
  settings.is_enabled = true;
  settings.rcb_bytes = rcb;
  TranslationAsk ask;
  ask.address = address;
  ask.translations = translations;
  return translation_request_tlp(ask, settings, Bdf::of(1, 0, 0));
}

struct Sent {
  Tlp tlp;
  std::array<std::uint8_t, 128> payload{};
};

/// What the agent sends for what it found.
std::vector<Sent> reply_to(const Tlp& request, const std::vector<TranslationEntry>& found,
                           unsigned stu = 0, unsigned rcb = 64, unsigned first_length = 0) {
  const unsigned length =
      reply_length(found.data(), static_cast<unsigned>(found.size()), request, stu);
  std::array<std::uint8_t, 128> bytes{};
  store_reply(bytes.data(), found.data(), length);
  std::vector<Sent> sent;
  TranslationReply reply(length, rcb, first_length);
  for (CompletionPiece piece; reply.next(piece);) {
    Sent one;
    one.tlp = translation_cpld(request, piece);
    std::copy_n(bytes.begin() + piece.offset, piece.bytes, one.payload.begin());
    sent.push_back(one);
  }
  return sent;
}

Verdict feed(TranslationReceiver& receiver, const Sent& sent) {
  const Verdict verdict = receiver.check(sent.tlp, sent.payload.data());
  if (verdict == Verdict::kPartial || verdict == Verdict::kLast) {
    receiver.accept(sent.tlp, sent.payload.data());
  }
  return verdict;
}

Tlp without_data(const Tlp& request, unsigned status) {
  Tlp completion;
  start_completion(completion, request);
  end_without_data(completion, request, static_cast<CplStatus>(status));
  return completion;
}

TEST(TranslationCompletion, ATR_01_OneMappedPageComesInOneCplD) {
  const Tlp request = request_for(0x1'2345'6000, 1);
  const std::vector<Sent> sent = reply_to(request, {page(0x7000)});
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].tlp.type, TlpType::kCplD);
  EXPECT_EQ(sent[0].tlp.byte_count, 8);
  EXPECT_EQ(sent[0].tlp.lower_address, 56);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  EXPECT_EQ(feed(receiver, sent[0]), Verdict::kLast);
  ASSERT_EQ(receiver.count(), 1U);
  EXPECT_EQ(receiver.entry(0), page(0x7000));
  EXPECT_EQ(receiver.range(0), (PageRange{0x1'2345'6000, 12}));
}

TEST(TranslationCompletion, ATR_08_AFullRcbComesBackWhole) {
  for (const unsigned rcb : {64U, 128U}) {
    const Tlp request = request_for(0x10000, rcb / 8, rcb);
    std::vector<TranslationEntry> found;
    for (unsigned i = 0; i < rcb / 8; ++i) {
      found.push_back(page(0x100000 + 0x2000 * i));
    }
    const std::vector<Sent> sent = reply_to(request, found, 0, rcb);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].tlp.lower_address, 0);
    TranslationReceiver receiver(request, request.has_pasid, rcb, 0);
    EXPECT_EQ(feed(receiver, sent[0]), Verdict::kLast);
    EXPECT_EQ(receiver.count(), rcb / 8);
    EXPECT_EQ(receiver.range(3), (PageRange{0x13000, 12}));
    EXPECT_EQ(receiver.entry(3).translated, 0x106000U);
  }
}

TEST(TranslationCompletion, ATR_13_CompletionsCarryTheTrafficClassOfTheirRequest) {
  Tlp request = request_for(0x1000, 1);
  request.tc = 5;
  EXPECT_EQ(reply_to(request, {page(0x7000)})[0].tlp.tc, 5);
  EXPECT_EQ(without_data(request, 1).tc, 5);
}

TEST(TranslationCompletion, ATR_18_AHoleInTheMiddleKeepsItsPlaceAndSize) {
  const Tlp request = request_for(0x200000, 3);
  TranslationEntry large_hole = hole(21);
  const std::vector<TranslationEntry> found = {page(0x400000, 13), large_hole, page(0x600000, 13)};
  Tlp with_stu = request;
  const std::vector<Sent> sent = reply_to(with_stu, found, 1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].tlp.length_dw, 6);
  TranslationReceiver receiver(with_stu, with_stu.has_pasid, 64, 1);
  EXPECT_EQ(feed(receiver, sent[0]), Verdict::kLast);
  EXPECT_TRUE(receiver.entry(0).has_access());
  EXPECT_FALSE(receiver.entry(1).has_access());
  EXPECT_EQ(receiver.entry(1).size_bits, 13);
  EXPECT_EQ(receiver.range(2), (PageRange{0x204000, 13}));
  EXPECT_EQ(receiver.entry(2).translated, 0x600000U);
}

TEST(TranslationCompletion, ATR_19_ATailOfHolesIsCutOff) {
  const Tlp request = request_for(0x1fe000, 4);
  EXPECT_EQ(reply_to(request, {page(0x1000), page(0x2000), hole(), hole()})[0].tlp.length_dw, 4);
  EXPECT_EQ(reply_to(request, {page(0x1000), hole(), hole(), hole()})[0].tlp.length_dw, 2);
}

TEST(TranslationCompletion, ATR_20_TheReplyEndsWhereTheSizeChanges) {
  const Tlp request = request_for(0x1fe000, 4);
  const std::vector<TranslationEntry> found = {page(0x1000), page(0x2000), page(0x40000000, 21)};
  EXPECT_EQ(reply_length(found.data(), 3, request, 0), 2U);
  // A hole smaller than the pages would not say what stands behind it.
  const std::vector<TranslationEntry> small_hole = {page(0x4000, 13), hole(12), page(0x8000, 13)};
  EXPECT_EQ(reply_length(small_hole.data(), 3, request, 0), 1U);
}

TEST(TranslationCompletion, ATR_21_EveryEntryTouchesTheImpliedRange) {
  const Tlp request = request_for(0x3ff000, 4);
  const std::vector<TranslationEntry> found = {page(0x40000000, 21), page(0x50000000, 21),
                                               page(0x60000000, 21)};
  EXPECT_EQ(reply_length(found.data(), 3, request, 0), 2U);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  EXPECT_EQ(feed(receiver, reply_to(request, found)[0]), Verdict::kLast);
  EXPECT_EQ(receiver.range(0), (PageRange{0x200000, 21}));
  EXPECT_EQ(receiver.range(1), (PageRange{0x400000, 21}));
}

TEST(TranslationCompletion, ATR_24_NothingMappedIsOneEntryWithoutAccess) {
  const Tlp request = request_for(0x5000, 4);
  const std::vector<Sent> sent = reply_to(request, {hole(14), page(0x4000, 14)}, 2);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].tlp.length_dw, 2);
  TranslationReceiver receiver(request, request.has_pasid, 64, 2);
  EXPECT_EQ(feed(receiver, sent[0]), Verdict::kLast);
  EXPECT_FALSE(receiver.entry(0).has_access());
  EXPECT_EQ(receiver.range(0), (PageRange{0x4000, 14}));
}

TEST(TranslationCompletion, TCP_01_TwoCplDsMeetAtTheBoundary) {
  const Tlp request = request_for(0x1000, 2);
  const std::vector<Sent> sent = reply_to(request, {page(0x7000), page(0x9000)}, 0, 64, 1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].tlp.length_dw, 2);
  EXPECT_EQ(sent[0].tlp.byte_count, 16);
  EXPECT_EQ(sent[0].tlp.lower_address, 56);
  EXPECT_EQ(sent[1].tlp.length_dw, 2);
  EXPECT_EQ(sent[1].tlp.byte_count, 8);
  EXPECT_EQ(sent[1].tlp.lower_address, 0);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  EXPECT_EQ(feed(receiver, sent[0]), Verdict::kPartial);
  EXPECT_EQ(feed(receiver, sent[1]), Verdict::kLast);
  EXPECT_EQ(receiver.entry(0), page(0x7000));
  EXPECT_EQ(receiver.entry(1), page(0x9000));
}

TEST(TranslationCompletion, TCP_02_LostFirstCplDDiscardsAll) {
  const Tlp request = request_for(0x1000, 2);
  const std::vector<Sent> sent = reply_to(request, {page(0x7000), page(0x9000)}, 0, 64, 1);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  EXPECT_EQ(feed(receiver, sent[1]), Verdict::kLostFirst);
  EXPECT_EQ(receiver.count(), 0U);
}

TEST(TranslationCompletion, TCP_02_CountsThatDoNotGoTogetherDiscardAll) {
  const Tlp request = request_for(0x1000, 4);
  const std::vector<Sent> sent =
      reply_to(request, {page(0x1000), page(0x3000), page(0x5000)}, 0, 64, 1);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  Sent wrong = sent[0];
  wrong.tlp.lower_address = 48;
  EXPECT_EQ(receiver.check(wrong.tlp, wrong.payload.data()), Verdict::kInconsistent);
  wrong = sent[0];
  wrong.tlp.length_dw = 3;
  EXPECT_EQ(receiver.check(wrong.tlp, wrong.payload.data()), Verdict::kInconsistent);
  wrong = sent[0];
  wrong.tlp.byte_count = 4;
  EXPECT_EQ(receiver.check(wrong.tlp, wrong.payload.data()), Verdict::kInconsistent);
  EXPECT_EQ(feed(receiver, sent[0]), Verdict::kPartial);
  wrong = sent[1];
  wrong.tlp.lower_address = 64 - 16;
  EXPECT_EQ(receiver.check(wrong.tlp, wrong.payload.data()), Verdict::kInconsistent);
  wrong = sent[1];
  wrong.tlp.length_dw = 2;
  wrong.tlp.byte_count = 8;
  EXPECT_EQ(receiver.check(wrong.tlp, wrong.payload.data()), Verdict::kInconsistent);
  wrong.tlp.byte_count = 16;  // A third CplD would follow.
  EXPECT_EQ(receiver.check(wrong.tlp, wrong.payload.data()), Verdict::kInconsistent);
  EXPECT_EQ(feed(receiver, sent[1]), Verdict::kLast);
}

TEST(TranslationCompletion, TCP_03_OneCplDEndsAtTheBoundary) {
  for (unsigned length = 1; length <= 16; ++length) {
    TranslationReply reply(length, 128);
    CompletionPiece piece;
    ASSERT_TRUE(reply.next(piece));
    EXPECT_EQ((piece.lower_address + piece.byte_count) % 128, 0) << length;
    EXPECT_LT(piece.lower_address, 128);
    EXPECT_FALSE(reply.next(piece));
  }
  EXPECT_THROW(TranslationReply(9, 64), SimulationError);
}

// [DHI D17] [TCP-25] The request itself carries no PASID then.
TEST(TranslationCompletion, TCP_25_BitsOfProcessesCountWhereAHandleStandsForOne) {
  const Tlp request = request_for(0x1000, 1);
  TranslationEntry entry = page(0x7000);
  entry.execute = entry.privileged = true;
  const Sent sent = reply_to(request, {entry})[0];
  for (const bool has_pasid : {false, true}) {
    TranslationReceiver receiver(request, has_pasid, 64, 0);
    ASSERT_EQ(receiver.check(sent.tlp, sent.payload.data()), Verdict::kLast);
    receiver.accept(sent.tlp, sent.payload.data());
    EXPECT_EQ(receiver.entry(0).execute, has_pasid);
    EXPECT_EQ(receiver.entry(0).privileged, has_pasid);
  }
}

TEST(TranslationCompletion, TCP_04_UnsupportedRequestDisablesTheAtc) {
  const Tlp request = request_for(0x1000, 1);
  const TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  EXPECT_EQ(receiver.check(without_data(request, 1), nullptr), Verdict::kUnsupported);
}

TEST(TranslationCompletion, TCP_05_ConfigurationRetryIsMalformed) {
  const Tlp request = request_for(0x1000, 1);
  const TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  EXPECT_EQ(receiver.check(without_data(request, 2), nullptr), Verdict::kMalformed);
}

TEST(TranslationCompletion, TCP_06_CompleterAbortFailsTheRequestAlone) {
  const Tlp request = request_for(0x1000, 1);
  const TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  EXPECT_EQ(receiver.check(without_data(request, 4), nullptr), Verdict::kAborted);
  Sent poisoned = reply_to(request, {page(0x7000)})[0];
  poisoned.tlp.is_poisoned = true;
  EXPECT_EQ(receiver.check(poisoned.tlp, poisoned.payload.data()), Verdict::kAborted);
}

TEST(TranslationCompletion, TCP_07_ReservedStatusesCountAsUnsupported) {
  const Tlp request = request_for(0x1000, 1);
  const TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  for (const unsigned status : {3U, 5U, 6U, 7U}) {
    EXPECT_EQ(receiver.check(without_data(request, status), nullptr), Verdict::kUnsupported);
  }
}

TEST(TranslationCompletion, TCP_08_SuccessWithoutDataIsIllegal) {
  const Tlp request = request_for(0x1000, 1);
  const TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  EXPECT_EQ(receiver.check(without_data(request, 0), nullptr), Verdict::kIllegal);
}

TEST(TranslationCompletion, TCP_15_ASizeBelowTheStuCountsAsUnsupported) {
  const Tlp request = request_for(0x4000, 1);
  TranslationReceiver receiver(request, request.has_pasid, 64, 2);
  EXPECT_EQ(feed(receiver, reply_to(request, {page(0x7000)})[0]), Verdict::kUnsupported);
  EXPECT_EQ(feed(receiver, reply_to(request, {hole()})[0]), Verdict::kUnsupported);
  EXPECT_EQ(receiver.count(), 0U);
}

TEST(TranslationCompletion, SFE_09_FourKBelowAnStuOfOneCountsAsUnsupported) {
  const Tlp request = request_for(0x4000, 1);
  TranslationReceiver receiver(request, request.has_pasid, 64, 1);
  EXPECT_EQ(feed(receiver, reply_to(request, {page(0x7000)})[0]), Verdict::kUnsupported);
  EXPECT_EQ(feed(receiver, reply_to(request, {page(0x8000, 13)})[0]), Verdict::kLast);
}

TEST(TranslationCompletion, SFE_08_AnUndefinedSizeDiscardsAll) {
  const Tlp request = request_for(0x4000, 1);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  Sent sent = reply_to(request, {page(0x7000)})[0];
  store_wire_u64(sent.payload.data(), ~std::uint64_t{0});
  EXPECT_EQ(feed(receiver, sent), Verdict::kInconsistent);
}

TEST(TranslationCompletion, CFG_05_TheAgentNeverSendsLessThanTheStu) {
  const Tlp request = request_for(0x4000, 1);
  const TranslationEntry found = page(0x7000);
  EXPECT_THROW(reply_length(&found, 1, request, 1), SimulationError);
}

TEST(TranslationCompletion, TCP_23_MoreEntriesThanAskedForAreAnError) {
  const Tlp request = request_for(0x1000, 2);
  const std::vector<TranslationEntry> found = {page(0x1000), page(0x2000), page(0x3000)};
  EXPECT_THROW(reply_length(found.data(), 3, request, 0), SimulationError);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  const std::vector<Sent> sent = reply_to(request_for(0x1000, 3), found);
  EXPECT_EQ(feed(receiver, sent[0]), Verdict::kTooMany);
  // Also when the surplus is only announced.
  const std::vector<Sent> split = reply_to(request_for(0x1000, 3), found, 0, 64, 1);
  EXPECT_EQ(feed(receiver, split[0]), Verdict::kTooMany);
}

TEST(TranslationCompletion, TCP_23_AnEntryBeyondTheImpliedRangeIsAnError) {
  const Tlp request = request_for(0x200000, 2);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  Sent sent = reply_to(request, {page(0x1000), page(0x2000)})[0];
  store_wire_u64(sent.payload.data(), encode_entry(page(0x40000000, 21)));
  store_wire_u64(sent.payload.data() + 8, encode_entry(page(0x50000000, 21)));
  EXPECT_EQ(feed(receiver, sent), Verdict::kInconsistent);
  store_wire_u64(sent.payload.data(), encode_entry(page(0x1000)));
  EXPECT_EQ(feed(receiver, sent), Verdict::kInconsistent);
}

TEST(TranslationCompletion, TCP_24_AnotherTrafficClassIsTaken) {
  const Tlp request = request_for(0x1000, 1);
  TranslationReceiver receiver(request, request.has_pasid, 64, 0);
  Sent sent = reply_to(request, {page(0x7000)})[0];
  sent.tlp.tc = 4;
  EXPECT_EQ(feed(receiver, sent), Verdict::kLast);
}

}  // namespace
}  // namespace flitwise::translation_completion_test
