// SPDX-License-Identifier: Apache-2.0
// Completions that fit and completions that do not.
#include "tlp/splitter.h"

#include <gtest/gtest.h>

#include <random>

namespace flitwise::reassembly_test {
namespace {

Tlp read_of(std::uint64_t address, std::uint32_t bytes) {
  RequestPiece piece;
  RequestSplitter(address, bytes, 4096).next(piece);
  Tlp tlp;
  tlp.address = piece.address;
  tlp.length_dw = piece.length_dw;
  tlp.first_be = piece.first_be;
  tlp.last_be = piece.last_be;
  return tlp;
}

Tlp completion_of(const CompletionPiece& piece) {
  Tlp tlp;
  tlp.type = TlpType::kCplD;
  tlp.length_dw = piece.length_dw;
  tlp.byte_count = piece.byte_count;
  tlp.lower_address = piece.lower_address;
  return tlp;
}

class ReassemblyOfTwo : public testing::Test {
 protected:
  ReassemblyOfTwo() {
    CompletionSplitter splitter(request_, 128, 64);
    CompletionPiece piece;
    splitter.next(piece);
    first_ = completion_of(piece);
    splitter.next(piece);
    second_ = completion_of(piece);
  }
  Tlp request_ = read_of(0x1044, 160);
  Tlp first_, second_;
  Reassembly reassembly_{request_, 128};
};

TEST_F(ReassemblyOfTwo, LNK_9_11_InOrderIsPartialThenLast) {
  EXPECT_EQ(reassembly_.check(first_), CompletionFit::kPartial);
  EXPECT_EQ(reassembly_.bytes_in(first_), 124U);
  reassembly_.accept(first_);
  EXPECT_EQ(reassembly_.bytes_left(), 36U);
  EXPECT_EQ(reassembly_.check(second_), CompletionFit::kLast);
  reassembly_.accept(second_);
  EXPECT_EQ(reassembly_.bytes_left(), 0U);
}

TEST_F(ReassemblyOfTwo, LNK_9_11_SecondFirstIsUnexpected) {
  EXPECT_EQ(reassembly_.check(second_), CompletionFit::kWrongByteCount);
  EXPECT_EQ(error_of(CompletionFit::kWrongByteCount), CompletionError::kUnexpectedCompletion);
}

TEST_F(ReassemblyOfTwo, LNK_9_13_WrongLowerAddressIsUnexpected) {
  first_.lower_address = 0x48;
  EXPECT_EQ(reassembly_.check(first_), CompletionFit::kWrongLowerAddress);
}

TEST_F(ReassemblyOfTwo, LNK_9_10_EndOffTheBoundaryIsMalformed) {
  first_.length_dw = static_cast<std::uint16_t>(first_.length_dw - 1);
  EXPECT_EQ(reassembly_.check(first_), CompletionFit::kBadBoundary);
  EXPECT_EQ(error_of(CompletionFit::kBadBoundary), CompletionError::kMalformedTlp);
  first_.length_dw = 0;
  EXPECT_EQ(reassembly_.check(first_), CompletionFit::kBadBoundary);
}

TEST_F(ReassemblyOfTwo, LNK_9_15_MoreThanMpsIsMalformed) {
  first_.length_dw = 40;
  EXPECT_EQ(reassembly_.check(first_), CompletionFit::kTooLong);
  EXPECT_EQ(error_of(CompletionFit::kTooLong), CompletionError::kMalformedTlp);
}

TEST_F(ReassemblyOfTwo, LNK_9_12_MoreThanOwedIsMalformed) {
  reassembly_.accept(first_);
  second_.length_dw = static_cast<std::uint16_t>(second_.length_dw + 1);
  EXPECT_EQ(reassembly_.check(second_), CompletionFit::kTooLong);
}

TEST_F(ReassemblyOfTwo, LNK_9_19_ErrorStatusEndsTheRequest) {
  first_.type = TlpType::kCpl;
  first_.length_dw = 0;
  for (const CplStatus status : {CplStatus::kUR, CplStatus::kCA, CplStatus::kRRS}) {
    first_.status = status;
    EXPECT_EQ(reassembly_.check(first_), CompletionFit::kFailed);
  }
}

TEST_F(ReassemblyOfTwo, LNK_9_19_ReadAnsweredWithoutDataOrInAnotherClassIsUnexpected) {
  Tlp other_class = first_;
  other_class.tc = 1;
  EXPECT_EQ(reassembly_.check(other_class), CompletionFit::kWrongKind);
  first_.type = TlpType::kCpl;
  EXPECT_EQ(reassembly_.check(first_), CompletionFit::kWrongKind);
  EXPECT_FALSE(fits(CompletionFit::kWrongKind));
}

TEST(Reassembly, LNK_2_13_RetryStatusBelongsToConfigurationOnly) {
  Tlp request;
  request.type = TlpType::kCfgRd0;
  request.length_dw = 1;
  request.first_be = 0xf;
  const Reassembly reassembly(request, 128);
  Tlp completion;
  completion.type = TlpType::kCpl;
  completion.status = CplStatus::kRRS;
  EXPECT_EQ(reassembly.check(completion), CompletionFit::kRetry);
}

TEST(Reassembly, LNK_9_12_ConfigurationWriteEndsWithOneCpl) {
  Tlp request;
  request.type = TlpType::kCfgWr1;
  request.length_dw = 1;
  Reassembly reassembly(request, 128);
  Tlp completion;
  completion.type = TlpType::kCpl;
  completion.byte_count = 4;
  EXPECT_EQ(reassembly.check(completion), CompletionFit::kLast);
  reassembly.accept(completion);
  EXPECT_EQ(reassembly.bytes_left(), 0U);
}

TEST(Reassembly, LNK_9_10_AcceptsWhateverTheSplitterMakes) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t mps = 128U << random() % 6;
    const std::uint64_t address = 0x3000 + random() % 4096;
    const auto bytes = static_cast<std::uint32_t>(random() % (0x4000 - address + 1));
    const Tlp request = read_of(address, bytes);
    Reassembly reassembly(request, mps);
    CompletionSplitter splitter(request, mps, 64U << random() % 2);
    std::uint32_t done = 0;
    for (CompletionPiece piece; splitter.next(piece);) {
      const Tlp completion = completion_of(piece);
      const CompletionFit fit = reassembly.check(completion);
      done += reassembly.bytes_in(completion);
      ASSERT_EQ(reassembly.bytes_in(completion), piece.bytes);
      reassembly.accept(completion);
      ASSERT_EQ(fit, reassembly.bytes_left() == 0 ? CompletionFit::kLast : CompletionFit::kPartial)
          << "address " << address << " bytes " << bytes;
    }
    ASSERT_EQ(done, bytes == 0 ? 1U : bytes);
  }
}

}  // namespace
}  // namespace flitwise::reassembly_test
