// SPDX-License-Identifier: Apache-2.0
// Invalidations at the function. Catalogue ids in the names.
#include "ats/invalidation.h"

#include <gtest/gtest.h>

#include <set>

#include "flitwise/error.h"

namespace flitwise::invalidation_receiver_test {
namespace {

constexpr Bdf kAgent = Bdf::of(0, 0, 0), kFunction = Bdf::of(1, 0, 0);
constexpr std::uint64_t kFrame = 0x8000'0000;

/// One function with all that invalidations touch.
class Invalidations : public testing::Test {
 protected:
  explicit Invalidations(const InvalidationReceiverConfig& config = {})
      : receiver(config, cache, requests, uses, writes) {
    cache.set_enabled(true);
  }

  static InvalidateRequest request(unsigned itag, std::uint64_t address, unsigned bits = 12) {
    InvalidateRequest made;
    made.agent = kAgent;
    made.function = kFunction;
    made.itag = static_cast<std::uint8_t>(itag);
    made.range = PageRange::around(address, bits);
    return made;
  }
  void map(std::uint64_t address, unsigned bits = 12) {
    TranslationEntry entry;
    entry.translated = kFrame;
    entry.size_bits = static_cast<std::uint8_t>(bits);
    entry.read = entry.write = true;
    cache.insert(PageRange::around(address, bits), {}, entry);
  }
  InvalidationReceiver::Effect invalidate(unsigned itag, std::uint64_t address,
                                          unsigned bits = 12) {
    return receiver.accept(request(itag, address, bits));
  }
  Slot use(std::uint64_t address) { return uses.open({address, address + 63}, {}); }

  TranslationCache cache{{16, 0, CachePolicy::kLru, 1}};
  OutstandingTranslations requests{8, AtcDiscard::kOverlapping};
  TranslatedUses uses{8};
  PostedWrites writes;
  InvalidationReceiver receiver;
};

TEST_F(Invalidations, INV_01_APageInTheAtcGoesAndIsAnsweredOnce) {
  map(0x1000);
  EXPECT_EQ(invalidate(7, 0x1000).removed, 1U);
  EXPECT_FALSE(cache.find(0x1000, {}));
  ASSERT_TRUE(receiver.has_completion());
  const InvalidateCompletion answer = receiver.take_completion();
  EXPECT_EQ(answer.agent, kAgent);
  EXPECT_EQ(answer.function, kFunction);
  EXPECT_EQ(answer.completion_count, 1);
  EXPECT_EQ(answer.itag_vector, 1U << 7);
  EXPECT_FALSE(receiver.has_completion());
  EXPECT_EQ(receiver.pending(), 0U);
}

TEST_F(Invalidations, INV_03_NothingToRemoveIsAnsweredToo) {
  map(0x1000);
  EXPECT_EQ(invalidate(0, 0x2000).removed, 0U);
  EXPECT_TRUE(receiver.has_completion());
  EXPECT_TRUE(cache.find(0x1000, {}));
}

TEST_F(Invalidations, INV_04_TheAnswerWaitsForOutstandingReads) {
  map(0x1000);
  const Slot same = use(0x1040), other = use(0x2000);
  EXPECT_EQ(invalidate(0, 0x1000).waits_for, 1U);
  EXPECT_FALSE(receiver.has_completion());
  receiver.end_use(other);
  EXPECT_FALSE(receiver.has_completion());
  receiver.end_use(same);
  EXPECT_TRUE(receiver.has_completion());
}

TEST_F(Invalidations, INV_04_LaterUsesAreNotWaitedFor) {
  const Slot before = use(0x1000);
  invalidate(0, 0x1000);
  use(0x1000);  // With a translation that was fetched anew.
  receiver.end_use(before);
  EXPECT_TRUE(receiver.has_completion());
}

TEST_F(Invalidations, INV_05_OutstandingTranslationRequestsAreDiscardedAtOnce) {
  TranslationAsk ask;
  ask.address = 0x1000;
  const Slot slot = requests.open(ask, 0);
  EXPECT_EQ(invalidate(0, 0x0000, 14).discarded, 1U);
  // The reply is void, so that the answer need not wait for it.
  EXPECT_TRUE(receiver.has_completion());
  EXPECT_FALSE(requests.is_discarded(slot));  // unit by unit
}

TEST_F(Invalidations, INV_06_TheWorkedExampleIsRecognised) {
  receiver.set_stu(2);
  TranslationAsk ask;
  ask.address = 0x0fff'ffff'c000;
  ask.translations = 2;
  requests.open(ask, 2);
  InvalidateRequest worked = request(0, 0);
  worked.range = decode_range(0x1000'0000'1000, true).range;
  EXPECT_EQ(receiver.accept(worked).discarded, 1U);
}

TEST_F(Invalidations, INV_07_AnswersPushTheWritesOfTheirClass) {
  writes.note_write(3);
  invalidate(0, 0x1000);
  const InvalidateCompletion answer = receiver.take_completion();
  EXPECT_EQ(answer.tc, 3);
  EXPECT_EQ(answer.completion_count, 1);
}

TEST_F(Invalidations, INV_07_AWriteNotYetInItsQueueIsWaitedFor) {
  const Slot write = use(0x1000);
  invalidate(0, 0x1000);
  EXPECT_FALSE(receiver.has_completion());
  writes.note_write(2);
  receiver.end_use(write);
  EXPECT_EQ(receiver.take_completion().tc, 2);
}

TEST_F(Invalidations, INV_08_OneCopyForEachClassWithOpenWrites) {
  writes.note_write(0);
  writes.note_write(3);
  invalidate(4, 0x1000);
  const InvalidateCompletion first = receiver.take_completion();
  EXPECT_EQ(receiver.pending(), 1U);
  const InvalidateCompletion second = receiver.take_completion();
  EXPECT_EQ(first.tc, 0);
  EXPECT_EQ(second.tc, 3);
  EXPECT_EQ(first.completion_count, 2);
  EXPECT_EQ(second.completion_count, 2);
  EXPECT_EQ(first.itag_vector, second.itag_vector);
  EXPECT_FALSE(receiver.has_completion());
}

TEST_F(Invalidations, INV_08_AWriteKnownPushedNeedsNoCopy) {
  writes.note_write(0);
  writes.note_write(3);
  const std::uint64_t before_read = writes.issued(3);
  writes.note_pushed(3, before_read);
  EXPECT_EQ(writes.open_classes(), 0x01);
  writes.note_write(3);
  writes.note_pushed(3, before_read);  // A read from before this write says nothing about it.
  EXPECT_EQ(writes.open_classes(), 0x09);
}

TEST_F(Invalidations, INV_09_EightClassesAreEightCopies) {
  for (unsigned tc = 0; tc < 8; ++tc) {
    writes.note_write(tc);
  }
  invalidate(0, 0x1000);
  std::set<unsigned> classes;
  for (int copy = 0; copy < 8; ++copy) {
    const InvalidateCompletion answer = receiver.take_completion();
    EXPECT_EQ(answer.completion_count, 8);
    EXPECT_EQ(invalidate_completion_tlp(answer).message_dw2 & 7U, 0U);
    classes.insert(answer.tc);
  }
  EXPECT_EQ(classes.size(), 8U);
  EXPECT_FALSE(receiver.has_completion());
}

class CoalescedInvalidations : public Invalidations {
 protected:
  CoalescedInvalidations() : Invalidations({true, true, false}) {}
};

TEST_F(CoalescedInvalidations, INV_11_OneMessageAnswersSeveral) {
  const Slot read = use(0x3000);
  invalidate(0, 0x1000);
  invalidate(1, 0x2000);
  invalidate(2, 0x3000);
  writes.note_write(1);
  writes.note_write(5);
  const InvalidateCompletion first = receiver.take_completion();
  receiver.end_use(read);  // Ready between two copies: they stay alike.
  const InvalidateCompletion second = receiver.take_completion();
  EXPECT_EQ(first.itag_vector, 0x3U);
  EXPECT_EQ(second.itag_vector, 0x3U);
  EXPECT_EQ(receiver.take_completion().itag_vector, 0x4U);
}

TEST_F(CoalescedInvalidations, INV_11_DifferentAgentsGetTheirOwn) {
  invalidate(0, 0x1000);
  InvalidateRequest other = request(1, 0x2000);
  other.agent = Bdf::of(0, 1, 0);
  receiver.accept(other);
  EXPECT_EQ(receiver.take_completion().itag_vector, 0x1U);
  EXPECT_EQ(receiver.take_completion().agent, other.agent);
}

TEST_F(Invalidations, INV_11_WithoutCoalescingEachHasItsOwn) {
  invalidate(0, 0x1000);
  invalidate(1, 0x2000);
  EXPECT_EQ(receiver.take_completion().itag_vector, 0x1U);
  EXPECT_EQ(receiver.take_completion().itag_vector, 0x2U);
}

TEST_F(Invalidations, INV_17_AnItagInUseIsNotTakenAgain) {
  invalidate(3, 0x1000);
  EXPECT_EQ(receiver.check(request(3, 0x2000)), InvalidateVerdict::kBusyItag);
  EXPECT_THROW(receiver.accept(request(3, 0x2000)), SimulationError);
  receiver.take_completion();
  EXPECT_EQ(receiver.check(request(3, 0x2000)), InvalidateVerdict::kAccept);
}

TEST_F(Invalidations, INV_19_ThirtyTwoAreTakenWithoutSendingOne) {
  for (unsigned itag = 0; itag < 32; ++itag) {
    ASSERT_EQ(receiver.check(request(itag, 0x1000)), InvalidateVerdict::kAccept);
    invalidate(itag, 0x1000);
  }
  EXPECT_EQ(receiver.pending(), 32U);
  std::uint32_t answered = 0;
  while (receiver.has_completion()) {
    answered |= receiver.take_completion().itag_vector;
  }
  EXPECT_EQ(answered, 0xffff'ffffU);
}

TEST_F(Invalidations, INV_21_ARangeBelowTheStuGrowsToIt) {
  receiver.set_stu(2);
  map(0x4000, 14);
  EXPECT_EQ(receiver.check(request(0, 0x5000)), InvalidateVerdict::kAccept);
  const Slot read = uses.open({0x7000, 0x703f}, {});
  const InvalidationReceiver::Effect effect = invalidate(0, 0x5000);
  EXPECT_EQ(effect.removed, 1U);
  EXPECT_EQ(effect.waits_for, 1U);
  receiver.end_use(read);
}

TEST(InvalidationsRefused, INV_21_OrIsRefused) {
  TranslationCache cache({4, 0, CachePolicy::kLru, 1});
  OutstandingTranslations requests(1, AtcDiscard::kAll);
  TranslatedUses uses(1);
  const PostedWrites writes;
  InvalidationReceiver receiver({false, false, false}, cache, requests, uses, writes);
  receiver.set_stu(1);
  InvalidateRequest request;
  EXPECT_EQ(receiver.check(request), InvalidateVerdict::kUnsupportedRequest);
  request.range.size_bits = 13;
  EXPECT_EQ(receiver.check(request), InvalidateVerdict::kAccept);
}

TEST_F(Invalidations, INV_23_AnsweredWithAtsOff) {
  cache.set_enabled(false);
  EXPECT_EQ(receiver.check(request(0, 0x1000)), InvalidateVerdict::kAccept);
  EXPECT_EQ(invalidate(0, 0x1000).removed, 0U);
  EXPECT_TRUE(receiver.has_completion());
}

TEST_F(Invalidations, INV_26_DroppedWritesLetTheAnswerGo) {
  const Slot first = use(0x1000), second = use(0x1800);
  invalidate(0, 0x1000);
  EXPECT_FALSE(receiver.has_completion());
  receiver.end_use(first);  // Bus Master Enable went: both are dropped before their queue.
  receiver.end_use(second);
  EXPECT_EQ(receiver.take_completion().completion_count, 1);
}

TEST_F(Invalidations, INV_29_TwoOfTheSamePageAreAnsweredInOrder) {
  const Slot read = use(0x1000);
  invalidate(9, 0x1000);
  invalidate(2, 0x1000);
  receiver.end_use(read);
  EXPECT_EQ(receiver.take_completion().itag_vector, 1U << 9);
  EXPECT_EQ(receiver.take_completion().itag_vector, 1U << 2);
  invalidate(9, 0x1000);
  invalidate(2, 0x1000);
  EXPECT_EQ(receiver.take_completion().itag_vector, 1U << 9);
  EXPECT_EQ(receiver.take_completion().itag_vector, 1U << 2);
}

TEST_F(Invalidations, INV_30_AnswersGoToWhoAsked) {
  invalidate(0, 0x1000);
  InvalidateRequest later = request(1, 0x1000);
  later.agent = Bdf::of(0, 2, 0);
  receiver.accept(later);
  EXPECT_EQ(receiver.take_completion().agent, kAgent);
  EXPECT_EQ(receiver.take_completion().agent, later.agent);
}

TEST(InvalidationsWithStoredAgent, INV_30_OrToWhoAskedFirstSinceTheReset) {
  TranslationCache cache({4, 0, CachePolicy::kLru, 1});
  OutstandingTranslations requests(1, AtcDiscard::kAll);
  TranslatedUses uses(1);
  const PostedWrites writes;
  InvalidationReceiver receiver({false, true, true}, cache, requests, uses, writes);
  InvalidateRequest request;
  request.agent = kAgent;
  receiver.accept(request);
  receiver.take_completion();
  request.agent = Bdf::of(0, 2, 0);
  receiver.accept(request);
  EXPECT_EQ(receiver.take_completion().agent, kAgent);
  receiver.reset();
  receiver.accept(request);
  EXPECT_EQ(receiver.take_completion().agent, request.agent);
}

TEST_F(Invalidations, INV_33_AGlobalOneTakesEveryPasid) {
  InvalidateRequest global = request(0, 0, 64);
  global.is_global = true;
  EXPECT_FALSE(scope_of(global).all_pasids);  // The bit counts beside a PASID only.
  global.pasid = Pasid{1};
  EXPECT_TRUE(scope_of(global).all_pasids);
  TranslationEntry entry;
  entry.read = true;
  cache.insert({0x1000, 12}, {Pasid{1}, false}, entry);
  cache.insert({0x1000, 12}, {Pasid{2}, false}, entry);
  map(0x1000);
  EXPECT_EQ(receiver.accept(global).removed, 2U);
}

TEST_F(Invalidations, INV_34_UsesOfOtherPasidsAreNotWaitedFor) {
  uses.open({0x1000, 0x103f}, Pasid{5});
  invalidate(0, 0x1000);
  EXPECT_TRUE(receiver.has_completion());
}

TEST_F(Invalidations, CFG_03_AResetAnswersNothing) {
  use(0x1000);
  invalidate(0, 0x1000);
  invalidate(1, 0x2000);
  receiver.reset();
  EXPECT_FALSE(receiver.has_completion());
  EXPECT_EQ(receiver.pending(), 0U);
  EXPECT_EQ(uses.size(), 0U);
  EXPECT_EQ(receiver.check(request(0, 0x1000)), InvalidateVerdict::kAccept);
}

TEST_F(Invalidations, CFG_02_UsesThatAreOutMayFinishWithAtsOff) {
  const Slot read = use(0x1000);
  cache.set_enabled(false);
  invalidate(0, 0x1000);
  EXPECT_FALSE(receiver.has_completion());
  receiver.end_use(read);
  EXPECT_TRUE(receiver.has_completion());
}

TEST_F(Invalidations, INV_25_AnsweredWithoutBusMasterEnable) {
  TranslationSettings settings;
  settings.is_enabled = true;
  settings.is_bus_master = false;
  EXPECT_FALSE(may_ask({}, settings));
  invalidate(0, 0x1000);  // Nothing of it knows of the bit.
  EXPECT_TRUE(receiver.has_completion());
}

}  // namespace
}  // namespace flitwise::invalidation_receiver_test
