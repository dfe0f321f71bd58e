// SPDX-License-Identifier: Apache-2.0
// What is reckoned of wires: requests that are out and credits, in the order of time.
#include "trace/wire_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace flitwise::wire_state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Wire : public ::testing::Test {
 protected:
  enum class Fate : std::uint8_t { kArrives, kDamaged, kAgain, kHidden };

  PacketRef tlp(TlpType type, std::uint16_t tag, Bdf requester = Bdf{0x0100}) {
    PacketRef made = pool_.make(PacketKind::kTlp);
    made->tlp.type = type;
    made->tlp.tag = tag;
    made->tlp.requester_id = requester;
    made->tlp.length_dw = 1;
    made->tlp.byte_count = 4;
    return made;
  }
  PacketRef credits(DllpType type, std::uint8_t headers) {
    PacketRef made = pool_.make(PacketKind::kDllp);
    made->dllp.type = type;
    made->dllp.fc_class = FcClass::kNonPosted;
    made->dllp.hdr_fc = headers;
    return made;
  }
  static TraceEvent event(const Packet& packet, int from_ns, int to_ns, Fate fate) {
    TraceEvent event{};
    event.first = Time::from_ns(from_ns);
    event.last = Time::from_ns(to_ns);
    event.told = event.first;
    event.is_replay = fate == Fate::kAgain;
    event.is_damaged = fate == Fate::kDamaged;
    event.is_shown = fate != Fate::kHidden;
    event.packet = &packet;
    return event;
  }
  void sent(const PacketRef& packet, int at_ns, Fate fate = Fate::kArrives) {
    wire_.sent(event(*packet, at_ns, at_ns, fate));
  }
  std::uint64_t came(const PacketRef& packet, int from_ns, int to_ns, Fate fate = Fate::kArrives) {
    return wire_.came(event(*packet, from_ns, to_ns, fate));
  }
  /// "1 ns: out 2" of all changes before that time.
  std::vector<std::string> changes(Time until = Time::never()) {
    std::vector<std::string> all;
    changes_.make_until(until, [&](std::uint64_t id, std::size_t value, Time at,
                                   std::uint64_t now) {
      EXPECT_EQ(id, 7U);
      all.push_back(std::to_string(at.fs / 1'000'000) +
                    " ns: " + (value == kRequestsOut ? "out " : "credits ") + std::to_string(now));
    });
    return all;
  }

  PacketPool pool_;
  WireChanges changes_;
  WireState wire_{changes_, 7};
};

TEST_F(Wire, ARequestIsOutUntilItsLastCompletionHasArrived) {
  const PacketRef request = tlp(TlpType::kMRd, 5);
  const PacketRef first = tlp(TlpType::kCplD, 5), last = tlp(TlpType::kCplD, 5);
  first->tlp.byte_count = 8;
  sent(request, 1);
  EXPECT_EQ(came(first, 10, 12), request->uid);
  EXPECT_EQ(came(last, 12, 14), request->uid);
  EXPECT_EQ(came(last, 16, 18), 0U);
  EXPECT_THAT(changes(), ElementsAre("1 ns: out 0", "1 ns: out 1", "14 ns: out 0"));
}

TEST_F(Wire, AnAnswerThatIsNotOverComesAfterWhatIsSentMeanwhile) {
  sent(tlp(TlpType::kMRd, 1), 1);
  came(tlp(TlpType::kCplD, 1), 10, 20);
  sent(tlp(TlpType::kMRd, 2), 15);
  EXPECT_THAT(changes(Time::from_ns(15)), ElementsAre("1 ns: out 0", "1 ns: out 1"));
  EXPECT_THAT(changes(), ElementsAre("15 ns: out 2", "20 ns: out 1"));
}

TEST_F(Wire, WhatIsDamagedIsSentAgain) {
  const PacketRef request = tlp(TlpType::kMRd, 1), answer = tlp(TlpType::kCplD, 1);
  sent(request, 1, Fate::kDamaged);
  sent(request, 3, Fate::kAgain);
  EXPECT_EQ(came(answer, 10, 11, Fate::kDamaged), request->uid);
  EXPECT_EQ(came(answer, 20, 21, Fate::kAgain), request->uid);
  // The tag is used anew, and the completion sent once more, since its Ack was lost.
  const PacketRef next = tlp(TlpType::kMRd, 1);
  sent(next, 30);
  came(answer, 31, 32, Fate::kAgain);
  EXPECT_THAT(changes(), ElementsAre("1 ns: out 0", "1 ns: out 1", "21 ns: out 0", "30 ns: out 1"));
}

TEST_F(Wire, DHI_D16_CompletionsGoToTheBdfBehindAHandleAndRefusalsToTheHandle) {
  const auto with_handle = [&](std::uint16_t tag, std::uint16_t handle) {
    PacketRef request = tlp(TlpType::kMRd, tag, Bdf{handle});
    request->tlp.id_is_handle = true;
    request->has_identity = true;
    request->identity.bdf = Bdf{0x0100};
    return request;
  };
  const PacketRef one = with_handle(1, 9), other = with_handle(2, 9);
  sent(one, 1);
  sent(other, 2);
  EXPECT_EQ(came(tlp(TlpType::kCplD, 1), 3, 4), one->uid);
  const PacketRef refusal = tlp(TlpType::kCpl, 2, Bdf{9});
  refusal->tlp.id_is_handle = true;
  EXPECT_EQ(came(refusal, 5, 6), other->uid);
  // Made as it stands: nobody but the host knows whom its handle stands for.
  const PacketRef raw = with_handle(3, 9);
  raw->has_identity = false;
  sent(raw, 7);
  EXPECT_EQ(came(tlp(TlpType::kCplD, 3, Bdf{0x0200}), 8, 9), raw->uid);
  EXPECT_EQ(changes().back(), "9 ns: out 0");
}

TEST_F(Wire, LNK_8_2_CreditsGoOnFromWhereTheyAreWhenTracesBegin) {
  std::array<HeaderCredits, kFcClasses> at_begin;
  at_begin[static_cast<std::size_t>(FcClass::kNonPosted)] = {false, false, 250, 20};
  wire_.begin(at_begin);
  sent(tlp(TlpType::kMRd, 1), 1);
  came(credits(DllpType::kUpdateFc, 16), 2, 3);  // 250 + 20 + 2, of eight bits
  came(credits(DllpType::kUpdateFc, 18), 4, 5, Fate::kDamaged);
  EXPECT_THAT(changes(), ElementsAre("1 ns: out 0", "1 ns: credits 20", "1 ns: credits 19",
                                     "1 ns: out 1", "3 ns: credits 21"));
}

TEST_F(Wire, LNK_10_4_ALinkThatComesUpAnewHasNothingOut) {
  sent(tlp(TlpType::kMRd, 1), 1);
  came(credits(DllpType::kInitFc1, 4), 8, 9);
  sent(tlp(TlpType::kMRd, 2), 10);
  EXPECT_THAT(changes(), ElementsAre("1 ns: out 0", "1 ns: out 1", "9 ns: credits 4", "9 ns: out 0",
                                     "10 ns: credits 3", "10 ns: out 1"));
}

TEST_F(Wire, WhatDoesNotShowIsReckonedAllTheSame) {
  sent(tlp(TlpType::kMRd, 1), 1, Fate::kHidden);
  sent(tlp(TlpType::kMRd, 2), 2, Fate::kHidden);
  EXPECT_THAT(changes(Time::from_ns(5)), IsEmpty());
  came(tlp(TlpType::kCplD, 2), 6, 8);
  EXPECT_THAT(changes(), ElementsAre("6 ns: out 2", "8 ns: out 1"));
}

}  // namespace
}  // namespace flitwise::wire_state_test
