// SPDX-License-Identifier: Apache-2.0
#include "crypto/keyed_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace flitwise::keyed_stream_test {
namespace {

TEST(KeyedStream, SEL_8_SameSeedAndNameAreTheSameNumbersOtherNamesAreOthers) {
  KeyedStream one(7, "port"), same(7, "port"), name(7, "hrw"), seed(8, "port");
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t number = one.next();
    EXPECT_EQ(number, same.next());
    seen.insert({number, name.next(), seed.next()});
  }
  EXPECT_EQ(seen.size(), 3000U);
}

// openssl enc -aes-256-ctr -K $(printf "\\0\\0\\0\\0\\0\\0\\0\\1port" | sha256sum) -iv 0, of zeros.
TEST(KeyedStream, SEL_8_IsTheKeyStreamOfAes256InCounterMode) {
  KeyedStream stream(1, "port");
  EXPECT_EQ(stream.next(), 0xacfe745b7a80d92bU);
}

TEST(KeyedStream, BelowIsUniform) {
  KeyedStream stream(3, "port");
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) {
    ++counts.at(stream.below(counts.size()));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10'000, 4 * 93);  // 4 sigma
  }
}

TEST(KeyedStream, FillGoesOnWhereNextLeftOff) {
  KeyedStream one(1, "key"), other(1, "key");
  std::array<std::uint8_t, 600> bytes{};
  one.next();
  one.fill(bytes.data(), bytes.size());
  std::array<std::uint8_t, 608> all{};
  other.fill(all.data(), all.size());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), all.begin() + 8));
}

}  // namespace
}  // namespace flitwise::keyed_stream_test
