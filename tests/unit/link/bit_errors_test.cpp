// SPDX-License-Identifier: Apache-2.0
// Which transmissions arrive damaged.
#include "link/bit_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/link_model.h"

namespace flitwise::bit_errors_test {
namespace {

TEST(BitErrors, RateIsThatOfIndependentBits) {
  constexpr double kRate = 1e-5;
  constexpr std::uint32_t kBits = 704;
  constexpr int kTlps = 2'000'000;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    BitErrors errors(kRate, {}, Random(seed));
    int hits = 0;
    for (int i = 0; i < kTlps; ++i) {
      hits += errors.damages_tlp(kBits) ? 1 : 0;
    }
    const double share = 1 - std::pow(1 - kRate, kBits);
    const double mean = kTlps * share;
    EXPECT_NEAR(hits, mean, 4.5 * std::sqrt(mean * (1 - share)));
  }
}

TEST(BitErrors, LongerTransmissionsAreHitMoreOften) {
  BitErrors errors(1e-4, {}, Random(5));
  int tlps = 0;
  int dllps = 0;
  for (int i = 0; i < 400'000; ++i) {
    tlps += errors.damages_tlp(2'240) ? 1 : 0;
    dllps += errors.damages_dllp(64) ? 1 : 0;
  }
  EXPECT_NEAR(tlps, 400'000 * (1 - std::pow(1 - 1e-4, 2'240)), 1'200);
  EXPECT_NEAR(dllps, 400'000 * (1 - std::pow(1 - 1e-4, 64)), 230);
}

TEST(BitErrors, RateZeroNeverHitsAndRateOneAlwaysDoes) {
  BitErrors none(0, {}, Random(1));
  BitErrors all(1, {}, Random(1));
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_FALSE(none.damages_tlp(1'000'000));
    EXPECT_TRUE(all.damages_dllp(64));
  }
}

TEST(BitErrors, OrdinalsCountFromOneAndByKind) {
  BitErrors errors(0, {{5, 1, 3, 3}, {2}}, Random(1));
  std::vector<int> tlps;
  std::vector<int> dllps;
  for (int i = 1; i <= 10; ++i) {
    if (errors.damages_tlp(700)) {
      tlps.push_back(i);
    }
    if (errors.damages_dllp(64)) {
      dllps.push_back(i);
    }
  }
  EXPECT_EQ(tlps, (std::vector<int>{1, 3, 5}));
  EXPECT_EQ(dllps, (std::vector<int>{2}));
}

TEST(BitErrors, SameSeedSameErrors) {
  BitErrors one(1e-3, {}, Random(9));
  BitErrors other(1e-3, {}, Random(9));
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(one.damages_tlp(704), other.damages_tlp(704));
  }
}

TEST(BitErrors, LNK_11_8_FecMendsOneByteInEachOfThreeGroups) {
  for (const double rate : {1e-5, 1e-4, 1e-3}) {
    BitErrors errors(rate, {}, Random(11));
    constexpr int kFlits = 1'000'000;
    int corrected = 0;
    int lost = 0;
    for (int i = 0; i < kFlits; ++i) {
      const FlitDamage damage = errors.strike_flit(true);
      corrected += damage == FlitDamage::kCorrected ? 1 : 0;
      lost += damage == FlitDamage::kUncorrectable ? 1 : 0;
    }
    const double p = uncorrectable_flit_rate(rate);
    const double struck = 1 - std::pow(1 - rate, 2048);
    EXPECT_NEAR(lost, kFlits * p, 4.5 * std::sqrt(kFlits * p) + 1) << rate;
    EXPECT_NEAR(corrected + lost, kFlits * struck, 4.5 * std::sqrt(kFlits * struck)) << rate;
  }
}

// A burst of 17 bits touches three bytes, each of another group; one of 33 bits five, but where the
// flit ends.
TEST(BitErrors, LNK_11_8_ABurstOfThreeBytesIsMendedAndALongerOneIsNot) {
  for (const unsigned burst : {1U, 17U, 33U}) {
    BitErrors errors(1e-7, {}, Random(3), burst);
    int corrected = 0;
    int lost = 0;
    for (int i = 0; i < 2'000'000; ++i) {
      const FlitDamage damage = errors.strike_flit(true);
      corrected += damage == FlitDamage::kCorrected ? 1 : 0;
      lost += damage == FlitDamage::kUncorrectable ? 1 : 0;
    }
    EXPECT_GT(corrected + lost, 300) << burst;
    EXPECT_EQ(burst < 24 ? lost : corrected > 20 ? corrected : 0, 0) << burst;
  }
}

TEST(BitErrors, LNK_11_8_OrdinalsDamageFlitsWithPayloadAndOthers) {
  BitErrors errors(0, {{2}, {3}}, Random(1));
  EXPECT_EQ(errors.strike_flit(true), FlitDamage::kNone);
  EXPECT_EQ(errors.strike_flit(true), FlitDamage::kUncorrectable);
  EXPECT_EQ(errors.strike_flit(false), FlitDamage::kNone);
  EXPECT_EQ(errors.strike_flit(false), FlitDamage::kNone);
  EXPECT_EQ(errors.strike_flit(false), FlitDamage::kUncorrectable);
}

}  // namespace
}  // namespace flitwise::bit_errors_test
