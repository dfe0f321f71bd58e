// SPDX-License-Identifier: Apache-2.0
// Credit arithmetic, UpdateFC and the initialisation of flow control.
#include "link/flow_control.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/random.h"
#include "link/credit_exchange.h"
#include "link/credit_returns.h"
#include "unit/link/link_support.h"

namespace flitwise::flow_control_test {
namespace {

constexpr Time kGuideline = Time::from_ns(100);

constexpr Time ns(std::int64_t n) {
  return Time::from_ns(n);
}

CreditGate gate_of(std::uint32_t limit, CreditScale scale) {
  CreditGate gate;
  gate.initialise(limit, scale);
  return gate;
}

TEST(FlowControl, LNK_8_1_AHeaderIsOneCreditAndDataIsOneEvery16Bytes) {
  PacketPool pool;
  const std::vector<std::pair<unsigned, unsigned>> kUnits = {{1, 1},  {4, 1},   {5, 2},
                                                             {16, 4}, {64, 16}, {1024, 256}};
  for (const auto& [dw, units] : kUnits) {
    EXPECT_EQ(data_credits(test::packet(pool, TlpType::kMWr, dw)->tlp), units);
  }
}

TEST(FlowControl, LNK_8_2_CreditsByType) {
  PacketPool pool;
  for (const TlpType type : {TlpType::kMWr, TlpType::kMsgD, TlpType::kCplD}) {
    EXPECT_EQ(data_credits(test::packet(pool, type, 8)->tlp), 2U);
  }
  for (const TlpType type :
       {TlpType::kIOWr, TlpType::kCfgWr0, TlpType::kCfgWr1, TlpType::kFetchAdd}) {
    EXPECT_EQ(data_credits(test::packet(pool, type, 1)->tlp), 1U);
  }
  EXPECT_EQ(data_credits(test::packet(pool, TlpType::kCas, 8)->tlp), 2U);
  for (const TlpType type :
       {TlpType::kMRd, TlpType::kIORd, TlpType::kCfgRd0, TlpType::kCpl, TlpType::kMsg}) {
    EXPECT_EQ(data_credits(test::packet(pool, type, 8)->tlp), 0U);
  }
}

TEST(CreditGate, LNK_8_3_AllowsExactlyWhatIsLeftAlsoAcrossTheWrap) {
  Random random(4);
  for (const CreditScale scale : {CreditScale::header(false, 0), CreditScale::data(false, 0),
                                  CreditScale::of_code(1, CreditScale::kHeaderCounterBits)}) {
    const std::uint32_t most = (1U << (scale.bits - 1)) - 1;
    CreditGate gate = gate_of(most, scale);
    std::uint64_t limit = most;
    std::uint64_t consumed = 0;
    for (int i = 0; i < 100'000; ++i) {
      const auto need = static_cast<std::uint32_t>(1 + random.below(most / 4));
      ASSERT_EQ(gate.available(), limit - consumed);
      ASSERT_EQ(gate.allows(need), consumed + need <= limit) << i;
      if (gate.allows(need)) {
        gate.consume(need);
        consumed += need;
      }
      if (random.chance(0.4)) {
        limit += random.below(consumed + most - limit + 1);
        gate.update(static_cast<std::uint32_t>(limit % (1U << scale.bits)));
      }
    }
  }
}

// [LNK-6.6]
TEST(CreditGate, LNK_8_4_ScaleShiftsTheValueOfTheDllp) {
  CreditGate by4 = gate_of(100, CreditScale::of_code(2, CreditScale::kHeaderCounterBits));
  EXPECT_EQ(by4.available(), 400U);
  CreditGate by16 = gate_of(2'000, CreditScale::of_code(3, CreditScale::kDataCounterBits));
  EXPECT_EQ(by16.available(), 32'000U);
  by16.consume(32'000);
  EXPECT_FALSE(by16.allows(1));
  by16.update((2'000 + 1) & 0xfff);
  EXPECT_TRUE(by16.allows(16));
  EXPECT_FALSE(by16.allows(17));
}

TEST(CreditGate, LNK_8_5_ZeroIsInfiniteAndUpdatesAreIgnored) {
  CreditGate gate = gate_of(0, CreditScale::header(false, 0));
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(gate.allows(255));
    gate.consume(255);
    gate.update(1);
  }
  EXPECT_TRUE(gate.is_infinite());
}

TEST(CreditPool, LNK_8_4_SmallestScaleThatCarriesTheAdvertisement) {
  EXPECT_EQ(CreditScale::header(false, 127).code, 0);
  EXPECT_EQ(CreditScale::header(true, 127).code, 1);
  EXPECT_EQ(CreditScale::header(true, 128).code, 2);
  EXPECT_EQ(CreditScale::header(true, 511).code, 2);
  EXPECT_EQ(CreditScale::header(true, 512).code, 3);
  EXPECT_EQ(CreditScale::data(true, 2'047).code, 1);
  EXPECT_EQ(CreditScale::data(true, 2'048).code, 2);
  EXPECT_EQ(CreditScale::data(true, 8'192).code, 3);
}

TEST(CreditPool, LNK_8_4_WhatTheDllpCannotCarryIsNotAdvertised) {
  CreditPool pool(130, CreditScale::header(true, 130));
  EXPECT_EQ(pool.size(), 128U);
  EXPECT_EQ(pool.field(), 32U);
  EXPECT_TRUE(pool.receive(1));
  pool.free(1);
  EXPECT_EQ(pool.unadvertised(), 0U);  // one of four cannot be told yet
  for (int i = 0; i < 3; ++i) {
    pool.receive(1);
    pool.free(1);
  }
  EXPECT_EQ(pool.unadvertised(), 4U);
  EXPECT_EQ(pool.field(), 33U);
  pool.advertised();
  EXPECT_EQ(pool.unadvertised(), 0U);
}

TEST(CreditPool, LNK_8_3_SaysWhenATlpCameWithoutCredits) {
  CreditPool pool(4, CreditScale::header(false, 4));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(pool.receive(1));
  }
  EXPECT_FALSE(pool.receive(1));
  EXPECT_FALSE(pool.is_conserved());
}

// A gate and the pool it was told of, with everything in between at random.
TEST(CreditPool, CreditsAreConservedBetweenGateAndPool) {
  Random random(11);
  for (const bool scaled : {false, true}) {
    for (const std::uint32_t size : {16U, 100U, 2'000U, 5'000U, 30'000U}) {
      if (!scaled && size > 2'047) {
        continue;
      }
      CreditPool pool(size, CreditScale::data(scaled, size));
      CreditGate gate = gate_of(pool.field(), pool.scale());
      std::vector<std::uint32_t> held;
      std::uint32_t in_buffer = 0;
      for (int i = 0; i < 50'000; ++i) {
        const auto need = static_cast<std::uint32_t>(1 + random.below(16));
        if (gate.allows(need)) {
          gate.consume(need);
          ASSERT_TRUE(pool.receive(need));
          held.push_back(need);
          in_buffer += need;
          ASSERT_LE(in_buffer, size);
        }
        if (!held.empty() && random.chance(0.5)) {
          pool.free(held.back());
          in_buffer -= held.back();
          held.pop_back();
        }
        if (random.chance(0.3)) {
          gate.update(pool.field());
          pool.advertised();
          ASSERT_EQ(gate.available(), pool.believed());
        }
        ASSERT_TRUE(pool.is_conserved());
      }
    }
  }
}

class CreditReturnsTest : public testing::Test {
 protected:
  static LinkConfig with(std::uint32_t headers, std::uint32_t data) {
    LinkConfig link = test::link_config();
    link.credits.posted_headers = headers;
    link.credits.posted_data = data;
    link.credits.scaled = false;
    link.credits.nonposted_headers = link.credits.nonposted_data = 32;
    return link;
  }
  const Tlp& write(unsigned dw = 16) {
    last_ = test::packet(pool_, TlpType::kMWr, dw);
    return last_->tlp;
  }
  PacketPool pool_;
  PacketRef last_;
};

// [LNK-8.15]
TEST_F(CreditReturnsTest, LNK_8_12_UpdateFcGoesWithinTheGuidelineAfterCreditsAreFreed) {
  CreditReturns returns(with(32, 1'024), kGuideline);
  EXPECT_EQ(returns.deadline(), Time::never());
  returns.receive(write());
  returns.free(write(), ns(10));
  EXPECT_EQ(returns.deadline(), ns(110));
  returns.receive(write());
  returns.free(write(), ns(50));  // joins the same UpdateFC
  EXPECT_EQ(returns.deadline(), ns(110));
  const Dllp update = returns.take(ns(110));
  EXPECT_EQ(update.type, DllpType::kUpdateFc);
  EXPECT_EQ(update.fc_class, FcClass::kPosted);
  EXPECT_EQ(update.hdr_fc, 34);
  EXPECT_EQ(update.data_fc, 1'032);
}

TEST_F(CreditReturnsTest, LNK_3_5_PrefixesTakeNoCreditOfTheirOwn) {
  CreditReturns returns(with(32, 1'024), kGuideline);
  Tlp tlp = write();
  tlp.has_pasid = true;
  tlp.other_prefix_count = 3;
  returns.receive(tlp);
  returns.free(tlp, ns(10));
  const Dllp update = returns.take(ns(110));
  EXPECT_EQ(update.hdr_fc, 32 + 1);
  EXPECT_EQ(update.data_fc, 1'024 + 64 / 16);
}

TEST_F(CreditReturnsTest, LNK_8_12_EachFiniteClassIsToldAtLeastEvery30us) {
  CreditReturns returns(with(32, 1'024), kGuideline);
  returns.activate(ns(0));
  std::vector<Time> told[kFcClasses];
  while (returns.deadline() < Time::from_us(1'000)) {
    const Time when = returns.deadline();
    told[static_cast<int>(returns.take(when).fc_class)].push_back(when);
  }
  for (const FcClass fc : {FcClass::kPosted, FcClass::kNonPosted}) {
    const std::vector<Time>& times = told[static_cast<int>(fc)];
    EXPECT_EQ(times.size(), 33U);
    for (std::size_t i = 1; i < times.size(); ++i) {
      EXPECT_LE(times[i] - times[i - 1], Time::from_us(30));
    }
  }
  EXPECT_TRUE(told[2].empty());  // completions are infinite
}

TEST_F(CreditReturnsTest, LNK_8_13_ABlockedClassIsToldAtOnce) {
  CreditReturns headers(with(2, 1'024), kGuideline);
  headers.receive(write());
  headers.free(write(), ns(5));
  EXPECT_EQ(headers.deadline(), ns(105));
  headers.take(ns(105));
  headers.receive(write());
  headers.receive(write());
  headers.free(write(), ns(200));
  EXPECT_EQ(headers.deadline(), ns(200));

  // Too little data for the largest TLP blocks as well.
  CreditReturns data(with(32, 16), kGuideline);
  data.receive(write(4));
  data.free(write(4), ns(300));
  EXPECT_EQ(data.deadline(), ns(300));
}

TEST_F(CreditReturnsTest, LNK_8_5_InfiniteCreditsAreAdvertisedAsZeroAndNeverUpdated) {
  LinkConfig link = with(0, 0);
  CreditReturns returns(link, kGuideline);
  EXPECT_EQ(returns.dllp(DllpType::kInitFc1, FcClass::kPosted).hdr_fc, 0);
  EXPECT_EQ(returns.dllp(DllpType::kInitFc1, FcClass::kPosted).data_fc, 0);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(returns.receive(write()));
    returns.free(write(), ns(i));
  }
  EXPECT_EQ(returns.deadline(), Time::never());
  EXPECT_FALSE(returns.has_unadvertised());
}

TEST_F(CreditReturnsTest, StartingThePeriodDoesNotPutOffWhatIsDueAlready) {
  CreditReturns returns(with(1, 16), kGuideline);
  returns.receive(write());
  returns.free(write(), ns(1));
  returns.activate(ns(2));
  EXPECT_EQ(returns.deadline(), ns(1));
}

TEST_F(CreditReturnsTest, LNK_8_12_AnEndWithoutFiniteCreditsSendsNoUpdateFc) {
  LinkConfig link = with(0, 0);
  link.credits.nonposted_headers = link.credits.nonposted_data = kInfiniteCredits;
  CreditReturns returns(link, kGuideline);
  returns.activate(ns(0));
  EXPECT_EQ(returns.deadline(), Time::never());
}

/// Sends the whole of a triple that is due at `now`.
std::vector<FlowControlInit::Step> triple(FlowControlInit& init, Time now) {
  std::vector<FlowControlInit::Step> steps;
  while (init.deadline() <= now && steps.size() < 10) {
    steps.push_back(init.take(now));
  }
  return steps;
}

void expect_triple(const std::vector<FlowControlInit::Step>& steps, DllpType type) {
  ASSERT_EQ(steps.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(steps[static_cast<std::size_t>(i)].type, type);
    EXPECT_EQ(steps[static_cast<std::size_t>(i)].fc_class, static_cast<FcClass>(i));
  }
}

TEST(FlowControlInit, LNK_8_9_TriplesRepeatWithin34usUntilAllThreeHaveComeIn) {
  FlowControlInit init;
  init.start(Time{});
  Time now{};
  for (int i = 0; i < 5; ++i) {
    expect_triple(triple(init, now), DllpType::kInitFc1);
    EXPECT_LE(init.deadline() - now, Time::from_us(34));
    now = init.deadline();
  }
  EXPECT_TRUE(init.receive_values(FcClass::kPosted, now));
  EXPECT_TRUE(init.receive_values(FcClass::kCompletion, now));
  expect_triple(triple(init, now), DllpType::kInitFc1);
  EXPECT_TRUE(init.receive_values(FcClass::kNonPosted, now + ns(1)));
  expect_triple(triple(init, now + ns(1)), DllpType::kInitFc2);
}

// Both ends are through; the other one has lost all InitFC2, and repeats its own.
TEST(FlowControlInit, LNK_8_10_AnInitFc2LongAfterwardsIsAnsweredWithTheTripleOnce) {
  FlowControlInit init;
  init.start(ns(0));
  triple(init, ns(0));
  for (const FcClass fc : {FcClass::kPosted, FcClass::kNonPosted, FcClass::kCompletion}) {
    init.receive_values(fc, ns(50));
  }
  expect_triple(triple(init, ns(50)), DllpType::kInitFc2);
  init.receive_second_phase();
  ASSERT_TRUE(init.is_active());
  init.receive_init_fc2(ns(60));  // the rest of the other end's first triple
  EXPECT_EQ(init.deadline(), Time::never());
  init.receive_init_fc2(Time::from_us(34));
  EXPECT_EQ(init.deadline(), Time::from_us(34));
  expect_triple(triple(init, Time::from_us(34)), DllpType::kInitFc2);
  EXPECT_EQ(init.deadline(), Time::never());
  init.receive_init_fc2(Time::from_us(35));  // two ends never answer each other for ever
  EXPECT_EQ(init.deadline(), Time::never());
}

// What the other end has sent before it could hear of them says nothing, however far away it is: on
// a link of 20 us each way two ends would answer each other for ever.
TEST(FlowControlInit, LNK_8_10_AnInitFc2FromBeforeTheOwnOnesCameIsNotAnswered) {
  constexpr Time kFlight = Time::from_us(20);
  for (const bool has_gone_down : {false, true}) {
    FlowControlInit init(false, kFlight * 2);
    if (has_gone_down) {
      init.reset();
    }
    init.start(Time{});
    triple(init, Time{});
    for (const FcClass fc : {FcClass::kPosted, FcClass::kNonPosted, FcClass::kCompletion}) {
      init.receive_values(fc, kFlight);
    }
    expect_triple(triple(init, kFlight), DllpType::kInitFc2);
    init.receive_second_phase();
    ASSERT_TRUE(init.is_active());
    init.receive_init_fc2(kFlight * 2);  // sent as these were
    init.receive_init_fc2(kFlight * 3);  // just before these came
    EXPECT_EQ(init.deadline(), Time::never());
    init.receive_init_fc2(kFlight * 3 + Time::from_us(17));  // they are lost
    EXPECT_EQ(init.deadline(), kFlight * 3 + Time::from_us(17));
  }
}

TEST(FlowControlInit, LNK_8_10_ActiveAfterItsOwnTripleAndASignOfTheOtherEnd) {
  FlowControlInit init;
  init.start(Time{});
  triple(init, Time{});
  init.receive_second_phase();  // too early: FI1 is not set
  for (const FcClass fc : {FcClass::kPosted, FcClass::kNonPosted, FcClass::kCompletion}) {
    init.receive_values(fc, ns(1));
  }
  EXPECT_FALSE(init.is_active());
  expect_triple(triple(init, ns(1)), DllpType::kInitFc2);
  EXPECT_FALSE(init.is_active());
  init.receive_second_phase();
  EXPECT_TRUE(init.is_active());
  EXPECT_EQ(init.deadline(), Time::never());
}

TEST(FlowControlInit, LNK_8_11_OnlyTheFirstValuesOfAClassCount) {
  FlowControlInit init;
  init.start(Time{});
  EXPECT_TRUE(init.receive_values(FcClass::kPosted, ns(1)));
  EXPECT_FALSE(init.receive_values(FcClass::kPosted, ns(2)));
}

}  // namespace
}  // namespace flitwise::flow_control_test
