// SPDX-License-Identifier: Apache-2.0
// What requests that are out, and their replies, mean for the transfers that wait. Catalogue ids in
// the names.
#include "endpoint/ats_unit.h"

#include <gtest/gtest.h>

#include <array>

#include "ats/translation_completion.h"

namespace flitwise::ats_unit_test {
namespace {

constexpr Time kPipeline = Time::from_ns(500);

/// Two functions, each with an ATC of one entry and room for two requests.
class AtsUnitTest : public testing::Test {
 protected:
  AtsUnitTest() {
    for (const unsigned function : {0U, 1U}) {
      enable(function, true);
    }
  }

  static Config config_of() {
    Config config;
    config.device.functions.count = 2;
    config.device.atc.enabled = true;
    config.device.atc.entries = 1;
    config.device.atc.requests = 2;
    config.device.tag_bits = 8;
    return config;
  }
  static Bdf bdf(unsigned function) { return Bdf::of(1, 0, function); }
  void enable(unsigned function, bool is_enabled) {
    TranslationSettings settings;
    settings.is_enabled = is_enabled;
    settings.has_pasid = true;
    unit.configure(function, settings);
  }

  static AtsAccess access(unsigned page, unsigned function = 0, unsigned pasid = 1) {
    AtsAccess made;
    made.function = function;
    made.address = page * 0x1000ULL;
    made.tag.pasid = Pasid{pasid};
    return made;
  }
  Slot ask(const AtsAccess& for_access) {
    const TranslationAsk wish = unit.ask_for(for_access, 1);
    requests.at(for_access.function) =
        translation_request_tlp(wish, unit.settings(for_access.function), bdf(for_access.function));
    return unit.open_request(for_access.function, wish, requests.at(for_access.function), true);
  }
  Slot park(const AtsAccess& of, Slot request) {
    ParkedTransfer one;
    one.access = of;
    one.request = request;
    one.state = ParkedState::kAwaitsReply;
    one.has_asked = true;
    return unit.parked.add(one);
  }
  /// One entry, which is at the ATC a pipeline later.
  void answer(unsigned function, Slot request, bool grants = true) {
    TranslationEntry entry;
    entry.translated = 0x8000'0000;
    entry.read = entry.write = grants;
    PacketPool pool;
    PacketRef packet = pool.make(PacketKind::kTlp);
    packet->payload.resize(8);
    store_reply(packet->payload.data(), &entry, 1);
    TranslationReply reply(1, 64);
    CompletionPiece piece;
    ASSERT_TRUE(reply.next(piece));
    packet->tlp = translation_cpld(requests.at(function), piece);
    const TranslationVerdict verdict = unit.take_reply(function, request, *packet);
    ASSERT_EQ(verdict, TranslationVerdict::kLast);
    unit.end_request(function, request, verdict, kPipeline);
  }
  /// A transfer that has its reply, and waits for its turn.
  Slot answered(const AtsAccess& of, bool grants = true) {
    const Slot request = ask(of);
    const Slot slot = park(of, request);
    answer(of.function, request, grants);
    return slot;
  }
  AtsRoute::Kind route(Slot slot) {
    const ParkedTransfer& waited = unit.parked.at(slot);
    return unit.route(waited.access, &waited, true).kind;
  }
  void invalidate(unsigned page, unsigned function = 0, unsigned pasid = 1) {
    InvalidateRequest request;
    request.function = bdf(function);
    request.itag = itag_++;
    request.range = PageRange::around(page * 0x1000ULL, 12);
    request.pasid = Pasid{pasid};
    EXPECT_EQ(unit.invalidate(function, request), InvalidateVerdict::kAccept);
  }

  const Config config = config_of();
  AtsUnit unit{config.device, config.run.seed, nullptr};
  std::array<Tlp, 2> requests;

 private:
  std::uint8_t itag_ = 0;
};

TEST_F(AtsUnitTest, ATR_28_ARequestKeepsItsPlaceUntilItsReplyIsAtTheAtc) {
  const Slot first = ask(access(1));
  answer(0, first);
  ask(access(2));
  EXPECT_FALSE(unit.has_room_for_request(0, kPipeline - Time::from_ns(1)));
  EXPECT_TRUE(unit.has_room_for_request(0, kPipeline));
}

TEST_F(AtsUnitTest, CFG_03_AResetForgetsRepliesOnTheirWayToTheAtc) {
  for (const unsigned page : {1U, 2U}) {
    answer(0, ask(access(page)));
  }
  EXPECT_FALSE(unit.has_room_for_request(0, Time{}));
  unit.reset(0, bdf(0));
  EXPECT_TRUE(unit.has_room_for_request(0, Time{}));
}

TEST_F(AtsUnitTest, TCP_19_NobodyWaitsForARequestThatAnInvalidationHasStruck) {
  const Slot request = ask(access(1));
  EXPECT_EQ(unit.request_for(access(1)), request);
  invalidate(2);
  EXPECT_EQ(unit.request_for(access(1)), request) << "another page";
  invalidate(1);
  EXPECT_EQ(unit.request_for(access(1)), std::nullopt);
}

TEST_F(AtsUnitTest, TCP_18_NobodyWaitsForARequestFromBeforeEnableWasSetAgain) {
  ask(access(1));
  enable(0, false);
  enable(0, true);
  EXPECT_EQ(unit.request_for(access(1)), std::nullopt);
}

TEST_F(AtsUnitTest, TCP_18_WhatWasGrantedBeforeEnableWasSetAgainIsAskedForAgain) {
  const Slot slot = answered(access(1));
  EXPECT_EQ(route(slot), AtsRoute::Kind::kTranslated);
  enable(0, false);
  EXPECT_EQ(route(slot), AtsRoute::Kind::kUntranslated);
  enable(0, true);
  EXPECT_EQ(route(slot), AtsRoute::Kind::kAsk);
}

TEST_F(AtsUnitTest, TCP_18_WhatWasRefusedBeforeEnableWasSetAgainIsAskedForAgain) {
  const Slot slot = answered(access(1), false);
  EXPECT_EQ(route(slot), AtsRoute::Kind::kRefused);
  enable(0, false);
  enable(0, true);
  EXPECT_EQ(route(slot), AtsRoute::Kind::kAsk);
}

TEST_F(AtsUnitTest, CFG_07_EnableOfAnotherFunctionLeavesAnAnswerAlone) {
  const Slot granted = answered(access(1));
  const Slot refused = answered(access(2), false);
  enable(1, false);
  enable(1, true);
  EXPECT_EQ(route(granted), AtsRoute::Kind::kTranslated);
  EXPECT_EQ(route(refused), AtsRoute::Kind::kRefused);
}

/// The transfer waits for its turn by a translation that its reply brought; the cache has another.
class GrantOfOne : public AtsUnitTest {
 protected:
  GrantOfOne() : slot(answered(access(1))) { answer(0, ask(access(9))); }
  const Slot slot;
};

TEST_F(GrantOfOne, INV_01_GoesWithItsPage) {
  EXPECT_EQ(route(slot), AtsRoute::Kind::kTranslated);
  invalidate(1);
  EXPECT_EQ(route(slot), AtsRoute::Kind::kAsk);
}

TEST_F(GrantOfOne, INV_01_StaysWhereAnotherPageGoes) {
  invalidate(2);
  EXPECT_EQ(route(slot), AtsRoute::Kind::kTranslated);
}

TEST_F(GrantOfOne, INV_34_StaysWhereAnotherPasidGoes) {
  invalidate(1, 0, 2);
  EXPECT_EQ(route(slot), AtsRoute::Kind::kTranslated);
}

TEST_F(GrantOfOne, CFG_08_StaysWhereThatOfAnotherFunctionGoes) {
  invalidate(1, 1);
  EXPECT_EQ(route(slot), AtsRoute::Kind::kTranslated);
}

}  // namespace
}  // namespace flitwise::ats_unit_test
