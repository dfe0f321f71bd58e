// SPDX-License-Identifier: Apache-2.0
// CRC and FEC of flits: what they mend, and what they find.
#include "link/flit_bytes.h"

#include <gtest/gtest.h>

#include <random>

namespace flitwise::flit_code_test {
namespace {

FlitBytes random_flit(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  FlitBytes flit{};
  for (std::size_t i = 0; i < kFlitCrcAt; ++i) {
    flit[i] = static_cast<std::uint8_t>(engine());
  }
  protect_flit(flit);
  return flit;
}

TEST(FlitCode, LNK_11_21_AGoodFlitIsLeftAlone) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const FlitBytes sent = random_flit(seed);
    FlitBytes flit = sent;
    const FlitRepair repair = mend_flit(flit);
    ASSERT_TRUE(repair.is_good);
    ASSERT_TRUE(repair.mended.empty());
    ASSERT_EQ(flit, sent);
  }
}

TEST(FlitCode, LNK_11_21_SilenceIsNoFlit) {
  FlitBytes zeros{};
  EXPECT_FALSE(mend_flit(zeros).is_good);
  FlitBytes ones;
  ones.fill(0xff);
  EXPECT_FALSE(mend_flit(ones).is_good);
}

// [LNK-11.8]
TEST(FlitCode, LNK_11_21_EveryWrongByteIsMendedWhereverItIs) {
  const FlitBytes sent = random_flit(1);
  for (std::size_t at = 0; at < sent.size(); ++at) {
    for (unsigned error = 1; error < 256; ++error) {
      FlitBytes flit = sent;
      flit[at] ^= static_cast<std::uint8_t>(error);
      const FlitRepair repair = mend_flit(flit);
      ASSERT_TRUE(repair.is_good) << at << " " << error;
      ASSERT_EQ(repair.mended, std::vector<std::size_t>{at});
      ASSERT_EQ(flit, sent);
    }
  }
}

// [LNK-11.8]
TEST(FlitCode, LNK_11_21_EveryBurstOfThreeBytesIsMended) {
  std::mt19937_64 engine(2);
  for (std::size_t at = 0; at + 3 <= flit::kBytes; ++at) {
    const FlitBytes sent = random_flit(at);
    FlitBytes flit = sent;
    for (std::size_t i = 0; i < 3; ++i) {
      flit[at + i] ^= static_cast<std::uint8_t>(1 + engine() % 255);
    }
    const FlitRepair repair = mend_flit(flit);
    ASSERT_TRUE(repair.is_good) << at;
    ASSERT_EQ(repair.mended, (std::vector<std::size_t>{at, at + 1, at + 2}));
    ASSERT_EQ(flit, sent);
  }
}

// Two wrong bytes of a group are beyond it: whatever it makes of them, the CRC tells.
TEST(FlitCode, LNK_11_21_TwoWrongBytesOfOneGroupFailTheCrc) {
  std::mt19937_64 engine(3);
  int mended_wrongly = 0;
  for (int round = 0; round < 20'000; ++round) {
    FlitBytes flit = random_flit(4);
    const std::size_t first = engine() % kFlitCrcAt;
    std::size_t second = first;
    while (second == first) {
      second =
          engine() % (kFlitCrcAt / flit::kFecGroups) * flit::kFecGroups + first % flit::kFecGroups;
    }
    flit[first] ^= static_cast<std::uint8_t>(1 + engine() % 255);
    flit[second] ^= static_cast<std::uint8_t>(1 + engine() % 255);
    const FlitRepair repair = mend_flit(flit);
    ASSERT_FALSE(repair.is_good) << first << " " << second;
    mended_wrongly += repair.mended.empty() ? 0 : 1;
  }
  EXPECT_GT(mended_wrongly, 0);  // so that the CRC was needed
}

TEST(FlitCode, LNK_11_21_CrcCoversTlpsAndDlp) {
  const FlitBytes sent = random_flit(5);
  for (std::size_t at = 0; at < kFlitCrcAt; ++at) {
    FlitBytes other = sent;
    other[at] ^= 1;
    protect_flit(other);
    EXPECT_FALSE(std::equal(sent.begin() + kFlitCrcAt, sent.begin() + kFlitFecAt,
                            other.begin() + kFlitCrcAt))
        << at;
  }
}

}  // namespace
}  // namespace flitwise::flit_code_test
