// SPDX-License-Identifier: Apache-2.0
// What couples the parts of one function's ATC. Catalogue ids in the names.
#include "ats/function_atc.h"

#include <gtest/gtest.h>

#include <array>

#include "ats/translation_completion.h"

namespace flitwise::function_atc_test {
namespace {

class Atc : public testing::Test {
 protected:
  Atc() {
    settings.is_enabled = true;
    ask.address = 0x1000;
    atc.set_control(true, 0);
  }

  Slot send() { return atc.requests.open(ask, 0); }
  /// The reply to `ask`: its page mapped, writable or not.
  TranslationReceiver mapped(bool is_writable = true) const {
    const Tlp request = translation_request_tlp(ask, settings, Bdf::of(1, 0, 0));
    TranslationEntry entry;
    entry.translated = 0x9000;
    entry.read = true;
    entry.write = is_writable;
    std::array<std::uint8_t, 8> payload{};
    store_reply(payload.data(), &entry, 1);
    TranslationReply reply(1, 64);
    CompletionPiece piece;
    reply.next(piece);
    TranslationReceiver receiver(request, request.has_pasid, 64, 0);
    receiver.accept(translation_cpld(request, piece), payload.data());
    return receiver;
  }
  bool hits() { return atc.cache.find(0x1000, {}) != nullptr; }

  TranslationSettings settings;
  TranslationAsk ask;
  FunctionAtc atc{FunctionAtcConfig{}};
};

TEST_F(Atc, ATR_01_AReplyIsCached) {
  EXPECT_FALSE(hits());
  EXPECT_EQ(atc.end_request(send(), TranslationVerdict::kLast, mapped()), 1U);
  EXPECT_EQ(choice_for(atc.cache.find(0x1008, {})->translation, AccessKind::kWrite),
            AccessChoice::kTranslated);
  EXPECT_EQ(atc.requests.size(), 0U);
}

TEST_F(Atc, ATR_15_AReadOnlyReplyAllowsNoWrite) {
  atc.end_request(send(), TranslationVerdict::kLast, mapped(false));
  EXPECT_EQ(choice_for(atc.cache.find(0x1000, {})->translation, AccessKind::kWrite),
            AccessChoice::kNotWithThis);
  EXPECT_EQ(choice_for(atc.cache.find(0x1000, {})->translation, AccessKind::kRead),
            AccessChoice::kTranslated);
}

TEST_F(Atc, TCP_02_AVoidReplyLeavesNothing) {
  EXPECT_EQ(atc.end_request(send(), TranslationVerdict::kLostFirst, mapped()), 0U);
  EXPECT_FALSE(hits());
  EXPECT_TRUE(atc.cache.is_usable());
}

TEST_F(Atc, TCP_04_UnsupportedTurnsItOffAndAnAbortDoesNot) {
  atc.end_request(send(), TranslationVerdict::kLast, mapped());
  atc.end_request(send(), TranslationVerdict::kAborted, {});
  EXPECT_TRUE(hits());
  atc.end_request(send(), TranslationVerdict::kUnsupported, {});
  EXPECT_FALSE(hits());
  atc.set_control(true, 0);  // No change of Enable.
  EXPECT_FALSE(atc.cache.is_usable());
  atc.set_control(false, 0);
  atc.set_control(true, 0);
  EXPECT_TRUE(atc.cache.is_usable());
}

TEST_F(Atc, TCP_04_UnsupportedCountsThoughAnInvalidationHasStruckTheRequest) {
  FunctionAtcConfig config;
  config.discards = AtcDiscard::kAll;
  FunctionAtc all(config);
  all.set_control(true, 0);
  const Slot request = all.requests.open(ask, 0);
  InvalidateRequest invalidate;
  invalidate.range = {0x1000, 12};
  all.invalidations.accept(invalidate);
  EXPECT_TRUE(all.requests.is_discarded(request));
  all.end_request(request, TranslationVerdict::kUnsupported, {});
  EXPECT_FALSE(all.cache.is_usable());
}

TEST_F(Atc, TCP_17_AReplyAfterDisablingIsDiscarded) {
  const Slot request = send();
  atc.set_control(false, 0);
  EXPECT_EQ(atc.end_request(request, TranslationVerdict::kLast, mapped()), 0U);
}

TEST_F(Atc, TCP_18_AReplyFromBeforeReenablingIsDiscarded) {
  const Slot before = send();
  atc.set_control(false, 0);
  atc.set_control(true, 0);
  EXPECT_EQ(atc.end_request(before, TranslationVerdict::kLast, mapped()), 0U);
  EXPECT_FALSE(hits());
  // Nor does its refusal turn off what software has just enabled.
  const Slot refused = send();
  atc.set_control(false, 0);
  atc.set_control(true, 0);
  atc.end_request(refused, TranslationVerdict::kUnsupported, {});
  EXPECT_TRUE(atc.cache.is_usable());
}

TEST_F(Atc, CFG_03_AResetForgetsEverything) {
  atc.end_request(send(), TranslationVerdict::kLast, mapped());
  send();
  atc.uses.open({0x1000, 0x103f}, {});
  atc.writes.note_write(3);
  InvalidateRequest invalidate;
  invalidate.range = {0x1000, 12};
  atc.invalidations.accept(invalidate);
  atc.reset();
  EXPECT_FALSE(atc.cache.is_enabled());
  EXPECT_EQ(atc.cache.size() + atc.requests.size() + atc.uses.size(), 0U);
  EXPECT_EQ(atc.writes.open_classes(), 0);
  EXPECT_FALSE(atc.invalidations.has_completion());
  EXPECT_EQ(atc.invalidations.pending(), 0U);
}

TEST_F(Atc, CFG_05_TheStuOfTheCapabilityCounts) {
  atc.set_control(true, 2);
  const Slot use = atc.uses.open({0x7000, 0x703f}, {});
  InvalidateRequest invalidate;
  invalidate.range = {0x4000, 12};
  EXPECT_EQ(atc.invalidations.accept(invalidate).waits_for, 1U);
  atc.invalidations.end_use(use);
}

}  // namespace
}  // namespace flitwise::function_atc_test
