// SPDX-License-Identifier: Apache-2.0
// Splitting of requests and completions, against the published rows and a brute-force count.
#include "tlp/splitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace flitwise::splitter_test {
namespace {

std::vector<RequestPiece> split(std::uint64_t address, std::uint64_t bytes, std::uint32_t limit) {
  RequestSplitter splitter(address, bytes, limit);
  std::vector<RequestPiece> pieces;
  for (RequestPiece piece; splitter.next(piece);) {
    pieces.push_back(piece);
  }
  return pieces;
}

Tlp read_of(std::uint64_t address, std::uint32_t bytes) {
  RequestPiece piece;
  RequestSplitter(address, bytes, 4096).next(piece);
  Tlp tlp;
  tlp.type = TlpType::kMRd;
  tlp.address = piece.address;
  tlp.length_dw = piece.length_dw;
  tlp.first_be = piece.first_be;
  tlp.last_be = piece.last_be;
  return tlp;
}

std::vector<CompletionPiece> answer(const Tlp& request, std::uint32_t mps, std::uint32_t rcb) {
  CompletionSplitter splitter(request, mps, rcb);
  std::vector<CompletionPiece> pieces;
  for (CompletionPiece piece; splitter.next(piece);) {
    pieces.push_back(piece);
  }
  return pieces;
}

unsigned enabled(unsigned byte_enables) {
  return static_cast<unsigned>(__builtin_popcount(byte_enables));
}

TEST(RequestSplitter, LNK_9_15_CutsAtTheLimit) {
  const auto pieces = split(0x1000, 600, 256);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].length_dw, 64);
  EXPECT_EQ(pieces[1].address, 0x1100U);
  EXPECT_EQ(pieces[2].bytes, 88U);
  EXPECT_EQ(pieces[2].offset, 512U);
}

TEST(RequestSplitter, LNK_9_14_CutsAtThePageBoundary) {
  const auto pieces = split(0x1f80, 256, 256);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].bytes, 128U);
  EXPECT_EQ(pieces[1].address, 0x2000U);
  EXPECT_EQ(split(0xfff, 2, 4096).size(), 2U);
  EXPECT_EQ(split(0x1000, 4096, 4096).size(), 1U);
}

TEST(RequestSplitter, LNK_2_8_ByteEnablesOfUnalignedEnds) {
  const auto six = split(0x1001, 6, 128);
  ASSERT_EQ(six.size(), 1U);
  EXPECT_EQ(six[0].address, 0x1000U);
  EXPECT_EQ(six[0].length_dw, 2);
  EXPECT_EQ(six[0].first_be, 0xe);
  EXPECT_EQ(six[0].last_be, 0x7);
  const auto one = split(0x100001003, 1, 128);
  EXPECT_EQ(one[0].length_dw, 1);
  EXPECT_EQ(one[0].first_be, 0x8);
  EXPECT_EQ(one[0].last_be, 0);
}

TEST(RequestSplitter, LNK_9_15_UnalignedStartDoesNotExceedTheLimitInDws) {
  for (const RequestPiece& piece : split(0x1003, 256, 256)) {
    EXPECT_LE(piece.length_dw * 4, 256);
  }
}

TEST(RequestSplitter, LNK_2_10_ZeroLengthIsOneDwWithoutByteEnables) {
  const auto pieces = split(0x2000, 0, 128);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].length_dw, 1);
  EXPECT_EQ(pieces[0].first_be, 0);
  EXPECT_EQ(pieces[0].last_be, 0);
  EXPECT_EQ(pieces[0].bytes, 0U);
}

TEST(RequestSplitter, LNK_9_14_EveryByteOnceInOrderWithinTheLimits) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t address = random() % 20'000;
    const std::uint64_t bytes = 1 + random() % 9'000;
    const std::uint32_t limit = 128U << random() % 6;
    std::uint64_t next = address;
    for (const RequestPiece& piece : split(address, bytes, limit)) {
      ASSERT_EQ(piece.address % 4, 0U);
      ASSERT_LE(piece.length_dw * 4U, limit);
      ASSERT_EQ(piece.address / 4096, (piece.address + piece.length_dw * 4U - 1) / 4096);
      ASSERT_EQ(piece.offset, next - address);
      const unsigned lead = enabled(0xfU & ~(0xfU << (next & 3U)));
      ASSERT_EQ(piece.address + lead, next);
      const unsigned total =
          piece.length_dw == 1
              ? enabled(piece.first_be)
              : enabled(piece.first_be) + enabled(piece.last_be) + 4U * (piece.length_dw - 2U);
      ASSERT_EQ(total, piece.bytes);
      ASSERT_EQ(piece.last_be == 0, piece.length_dw == 1);
      next += piece.bytes;
    }
    ASSERT_EQ(next, address + bytes) << "address " << address << " bytes " << bytes;
  }
}

struct Row {
  std::uint64_t address;
  std::uint32_t bytes, mps, rcb;
  std::vector<std::uint32_t> sizes, byte_counts, lower_addresses;
};

TEST(CompletionSplitter, LNK_9_10_PublishedRows) {
  std::vector<std::uint32_t> sizes{224}, counts{4064}, lower{0x20};
  for (std::uint32_t owed = 3840; owed >= 256; owed -= 256) {
    sizes.push_back(256);
    counts.push_back(owed);
    lower.push_back(0);
  }
  const std::vector<Row> rows{
      {0x1004, 256, 128, 64, {124, 128, 4}, {256, 132, 4}, {4, 0, 0}},
      {0x1000, 512, 256, 64, {256, 256}, {512, 256}, {0, 0}},
      {0x1f38, 200, 256, 64, {200}, {200}, {0x38}},
      {0x1020, 4064, 256, 128, sizes, counts, lower},
      {0x1003, 1, 128, 64, {1}, {1}, {3}},
  };
  for (const Row& row : rows) {
    std::vector<std::uint32_t> seen_sizes, seen_counts, seen_lower;
    for (const CompletionPiece& piece : answer(read_of(row.address, row.bytes), row.mps, row.rcb)) {
      seen_sizes.push_back(piece.bytes);
      seen_counts.push_back(piece.byte_count);
      seen_lower.push_back(piece.lower_address);
    }
    EXPECT_EQ(seen_sizes, row.sizes) << std::hex << row.address;
    EXPECT_EQ(seen_counts, row.byte_counts) << std::hex << row.address;
    EXPECT_EQ(seen_lower, row.lower_addresses) << std::hex << row.address;
  }
}

/// Fewest completions by trying every legal cut: an oracle that knows no greedy choice.
unsigned fewest(std::uint64_t address, std::uint32_t bytes, std::uint32_t mps, std::uint32_t rcb,
                std::map<std::uint64_t, unsigned>& known) {
  const std::uint64_t lead = address & 3U;
  if ((lead + bytes + 3) / 4 * 4 <= mps) {
    return 1;
  }
  const auto found = known.find(address);
  if (found != known.end()) {
    return found->second;
  }
  unsigned best = ~0U;
  for (std::uint64_t end = (address / rcb + 1) * rcb; end - (address - lead) <= mps; end += rcb) {
    const auto rest = static_cast<std::uint32_t>(address + bytes - end);
    best = std::min(best, 1 + fewest(end, rest, mps, rcb, known));
  }
  return known[address] = best;
}

TEST(CompletionSplitter, LNK_9_10_NeedsAsFewAsPossibleAndNeverMoreThanOnePerBoundary) {
  for (const std::uint32_t rcb : {64U, 128U}) {
    for (const std::uint32_t mps : {128U, 256U, 512U}) {
      for (std::uint32_t start = 0; start < 2 * rcb; ++start) {
        for (const std::uint32_t bytes : {1U, 3U, 4U, 63U, 64U, 65U, 127U, 128U, 129U, 255U, 256U,
                                          257U, 509U, 512U, 516U, 1024U, 1500U}) {
          const auto count = answer(read_of(0x1000 + start, bytes), mps, rcb).size();
          std::map<std::uint64_t, unsigned> known;
          ASSERT_EQ(count, fewest(0x1000 + start, bytes, mps, rcb, known))
              << "start " << start << " bytes " << bytes << " mps " << mps << " rcb " << rcb;
          ASSERT_LE(count, (start % rcb + bytes + rcb - 1) / rcb);
        }
      }
    }
  }
}

TEST(CompletionSplitter, LNK_9_11_CoversTheAnswerInAddressOrder) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t rcb = 64U << random() % 2;
    const std::uint32_t mps = 128U << random() % 6;
    const std::uint64_t address = 0x7000 + random() % 4096;
    const auto bytes = static_cast<std::uint32_t>(1 + random() % (0x8000 - address));
    const auto pieces = answer(read_of(address, bytes), mps, rcb);
    std::uint32_t done = 0;
    for (const CompletionPiece& piece : pieces) {
      ASSERT_EQ(piece.offset, done);
      ASSERT_EQ(piece.byte_count, bytes - done);
      ASSERT_EQ(piece.lower_address, (address + done) & 0x7f);
      ASSERT_LE(piece.length_dw * 4U, mps);
      done += piece.bytes;
      ASSERT_TRUE(done == bytes || (address + done) % rcb == 0);
    }
    ASSERT_EQ(done, bytes);
  }
}

TEST(CompletionSplitter, LNK_9_15_UnalignedAnswerOfMpsBytesNeedsTwo) {
  const auto pieces = answer(read_of(0x1003, 128), 128, 64);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].length_dw, 32);
  EXPECT_EQ(pieces[1].bytes, 3U);
}

TEST(CompletionSplitter, LNK_2_10_ZeroLengthReadGetsOneDw) {
  const auto pieces = answer(read_of(0x1004, 0), 128, 64);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].length_dw, 1);
  EXPECT_EQ(pieces[0].byte_count, 1);
  EXPECT_EQ(pieces[0].lower_address, 4);
}

TEST(ByteCount, LNK_9_12_CountsFromTheFirstToTheLastEnabledByte) {
  const std::vector<std::pair<std::uint8_t, std::uint32_t>> single{
      {0x0, 1}, {0x1, 1}, {0x2, 1}, {0x4, 1}, {0x8, 1}, {0x3, 2}, {0x6, 2}, {0xc, 2},
      {0x5, 3}, {0xa, 3}, {0x7, 3}, {0xe, 3}, {0x9, 4}, {0xb, 4}, {0xd, 4}, {0xf, 4}};
  Tlp tlp;
  tlp.length_dw = 1;
  for (const auto& [first_be, expected] : single) {
    tlp.first_be = first_be;
    EXPECT_EQ(byte_count_of(tlp), expected) << int{first_be};
  }
  tlp.length_dw = 1024;
  tlp.first_be = 0xf;
  tlp.last_be = 0xf;
  EXPECT_EQ(byte_count_of(tlp), 4096U);
  tlp.length_dw = 2;
  tlp.first_be = 0x8;
  tlp.last_be = 0x1;
  EXPECT_EQ(byte_count_of(tlp), 2U);
}

TEST(ByteCount, LNK_2_15_SteeringTagSaysNothingOfBytes) {
  Tlp tlp;
  tlp.address = 0x1000;
  tlp.length_dw = 2;
  tlp.has_processing_hint = true;  // both byte enables stay 0: steering tag 0
  EXPECT_EQ(byte_count_of(tlp), 8U);
  EXPECT_EQ(lower_address_of(tlp), 0);
  EXPECT_EQ(answer(tlp, 128, 64).size(), 1U);
}

TEST(ByteCount, LNK_9_13_AtomicsReturnTheOldValueAtLowerAddressZero) {
  Tlp tlp;
  tlp.type = TlpType::kCas;
  tlp.address = 0x1048;
  tlp.length_dw = 4;
  EXPECT_EQ(byte_count_of(tlp), 8U);
  EXPECT_EQ(lower_address_of(tlp), 0);
  tlp.type = TlpType::kFetchAdd;
  tlp.length_dw = 2;
  EXPECT_EQ(byte_count_of(tlp), 8U);
  const auto pieces = answer(tlp, 128, 64);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].lower_address, 0);
}

}  // namespace
}  // namespace flitwise::splitter_test
