// SPDX-License-Identifier: Apache-2.0
// What atomics do to bytes, against sums and comparisons of whole numbers.
#include "tlp/atomic_op.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

namespace flitwise::atomic_op_test {
namespace {

using Bytes = std::array<std::uint8_t, 2 * kMaxOperandBytes>;

Tlp atomic(TlpType type, unsigned length_dw) {
  Tlp tlp;
  tlp.type = type;
  tlp.length_dw = static_cast<std::uint16_t>(length_dw);
  return tlp;
}

Bytes random_bytes(std::mt19937_64& random) {
  Bytes bytes;
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(random());
  }
  return bytes;
}

std::uint64_t number(const Bytes& bytes, unsigned size) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) {
    value |= std::uint64_t{bytes[i]} << 8 * i;
  }
  return value;
}

TEST(AtomicOp, LNK_9_29_FetchAddAddsModuloItsSize) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    for (const unsigned bytes : {4U, 8U}) {
      const Bytes old = random_bytes(random), operand = random_bytes(random);
      Bytes result{};
      EXPECT_TRUE(apply_atomic(atomic(TlpType::kFetchAdd, bytes / 4), operand.data(), old.data(),
                               result.data()));
      const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : 0xffffffffU;
      EXPECT_EQ(number(result, 8), (number(old, bytes) + number(operand, bytes)) & mask)
          << "round " << round << ", " << bytes << " bytes";
    }
  }
}

TEST(AtomicOp, LNK_9_29_SwapStoresItsOperandAlone) {
  std::mt19937_64 random(2);
  for (const unsigned bytes : {4U, 8U}) {
    const Bytes old = random_bytes(random), operand = random_bytes(random);
    Bytes result{};
    EXPECT_TRUE(
        apply_atomic(atomic(TlpType::kSwap, bytes / 4), operand.data(), old.data(), result.data()));
    EXPECT_EQ(std::memcmp(result.data(), operand.data(), bytes), 0);
    EXPECT_EQ(result[bytes], 0) << "nothing behind it";
  }
}

TEST(AtomicOp, LNK_9_29_CasStoresItsSecondOperandWhereTheFirstIsThere) {
  std::mt19937_64 random(3);
  for (const unsigned bytes : {4U, 8U, 16U}) {
    const Bytes old = random_bytes(random);
    Bytes operands = random_bytes(random);
    std::memcpy(operands.data(), old.data(), bytes);
    const Tlp cas = atomic(TlpType::kCas, bytes / 2);
    Bytes result{};
    EXPECT_TRUE(apply_atomic(cas, operands.data(), old.data(), result.data()));
    EXPECT_EQ(std::memcmp(result.data(), &operands[bytes], bytes), 0);
    for (unsigned bit = 0; bit < 8 * bytes; ++bit) {
      Bytes other = operands;
      other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ 1U << bit % 8);
      EXPECT_FALSE(apply_atomic(cas, other.data(), old.data(), result.data())) << "bit " << bit;
    }
  }
}

TEST(AtomicOp, LNK_2_12_ACasNamesOneOperandOfMemory) {
  EXPECT_EQ(bytes_named(atomic(TlpType::kCas, 8)), 16U);
  EXPECT_EQ(bytes_named(atomic(TlpType::kSwap, 2)), 8U);
  EXPECT_EQ(bytes_named(atomic(TlpType::kMWr, 8)), 32U);
  EXPECT_EQ(bytes_named(atomic(TlpType::kDMWr, 8)), 32U);
}

}  // namespace
}  // namespace flitwise::atomic_op_test
