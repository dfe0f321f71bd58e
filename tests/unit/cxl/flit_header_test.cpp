// SPDX-License-Identifier: Apache-2.0
// Flit headers and returned credits as bits.
#include "cxl/flit_frame.h"

#include <gtest/gtest.h>

namespace flitwise::flit_header_test {
namespace {

TEST(CxlFlitHeader, CXL_2_10_CreditsAreReturnedAsPowersOfTwo) {
  EXPECT_EQ(cxl_credit_code(0), 0);
  EXPECT_EQ(cxl_credit_code(1), 1);
  EXPECT_EQ(cxl_credit_code(3), 2);
  EXPECT_EQ(cxl_credit_code(4), 3);
  EXPECT_EQ(cxl_credit_code(63), 6);
  EXPECT_EQ(cxl_credit_code(64), 7);
  EXPECT_EQ(cxl_credit_code(1000), 7);
  EXPECT_EQ(cxl_credits_of_code(7), 64U);
  for (std::uint32_t count = 0; count < 200; ++count) {
    const std::uint8_t code = cxl_credit_code(count);
    EXPECT_LE(cxl_credits_of_code(code), count);
    EXPECT_TRUE(code == kMostCxlCreditCode || cxl_credits_of_code(code + 1) > count);
  }
}

TEST(CxlFlitHeader, CXL_2_2_FieldsStandInTheOrderOfTheTable) {
  CxlHeader68 header;
  EXPECT_EQ(word_of(header), 0x10U);  // Sz
  header.is_control = header.is_ack = header.has_byte_enables = true;
  EXPECT_EQ(word_of(header), 0x1dU);
  header.formats = {5, 0, 1, 6};
  EXPECT_EQ(word_of(header), 0x1dU | 5U << 5 | 1U << 11 | 6U << 14);
  header.credits = {{{CxlProtocol::kMem, 7}, {CxlProtocol::kCache, 2}, {CxlProtocol::kMem, 1}}};
  EXPECT_EQ(word_of(header) >> 20, 2U | 0xfU << 4 | 9U << 8) << "responses, requests, data";
}

// Bits 1 and 17 to 19 are reserved.
TEST(CxlFlitHeader, CXL_2_2_EveryBitHasItsField) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    const bool is_reserved = bit == 1 || (bit > 16 && bit < 20);
    EXPECT_EQ(word_of(cxl_header68_of(1U << bit)), is_reserved ? 0U : 1U << bit) << bit;
  }
}

TEST(CxlFlitHeader, CXL_4_5_ThreeCountsInTwoBytes) {
  const CxlCreditReturn256 credits{CxlProtocol::kMem, {1, 2, 31}};
  EXPECT_EQ(word_of(credits), 0x8000U | 1U | 31U << 5 | 2U << 10);
  for (std::uint32_t word = 0; word < 0x10000; ++word) {
    EXPECT_EQ(word_of(cxl_credit_return256_of(static_cast<std::uint16_t>(word))), word);
  }
}

}  // namespace
}  // namespace flitwise::flit_header_test
