// SPDX-License-Identifier: Apache-2.0
// The calculator reproduces every published and derived figure to its last printed digit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "link/replay_timer.h"
#include "support/link_model.h"
#include "support/message_model.h"

namespace flitwise::published_numbers_test {
namespace {

constexpr TlpOverhead kPlain = TlpOverhead::of(true, false, false);
constexpr TlpOverhead kPasid = TlpOverhead::of(true, true, false);
constexpr double kHalfOfThirdDigit = 0.000501;

LinkShape link_of(unsigned generation, unsigned lanes, unsigned mps) {
  return {generation, lanes, mps, 512};
}

TEST(PublishedModel, OverheadsAreThoseOfItsConstants) {
  EXPECT_EQ(kPlain.write, 24U);
  EXPECT_EQ(kPlain.read_request, 24U);
  EXPECT_EQ(kPlain.completion, 20U);
  EXPECT_EQ(TlpOverhead::of(false, false, false).write, 20U);
  EXPECT_EQ(TlpOverhead::of(false, false, true).completion, 24U);
  EXPECT_EQ(kPasid.write, 28U);
  EXPECT_EQ(kPasid.completion, 20U);
}

TEST(PublishedModel, RawAndTlpBandwidth) {
  EXPECT_NEAR(raw_gbps(3, 8), 63.0154, 0.00005);
  EXPECT_NEAR(raw_gbps(1, 1), 2, 1e-12);
  EXPECT_NEAR(raw_gbps(2, 4), 16, 1e-12);
  EXPECT_NEAR(published_tlp_gbps(link_of(3, 8, 256)), 57.8848, 0.00005);
  EXPECT_NEAR(published_tlp_gbps(link_of(4, 16, 256)), 227.4001, 0.00005);
  EXPECT_NEAR(published_tlp_gbps(link_of(1, 8, 128)), 12.1375, 0.00005);
  // The paper's text: 62.96 and 57.88; its 62.96 is 8 * 7.87, a rounded lane.
  EXPECT_NEAR(raw_gbps(3, 8), 62.96, 0.06);
  EXPECT_NEAR(published_tlp_gbps(link_of(3, 8, 256)), 57.88, 0.005);
}

struct Row {
  int number;
  unsigned generation, lanes, mps;
  std::uint64_t bytes;
  double write, read, read_write;  ///< 0: not published
};

class PublishedRows : public testing::TestWithParam<Row> {};

TEST_P(PublishedRows, AreReproducedToTheThirdDigit) {
  const Row& row = GetParam();
  const LinkShape link = link_of(row.generation, row.lanes, row.mps);
  EXPECT_NEAR(published_write_gbps(link, row.bytes, kPlain), row.write, kHalfOfThirdDigit);
  EXPECT_NEAR(published_read_gbps(link, row.bytes, kPlain), row.read, kHalfOfThirdDigit);
  if (row.read_write > 0) {
    EXPECT_NEAR(published_read_write_gbps(link, row.bytes, kPlain), row.read_write,
                kHalfOfThirdDigit);
  }
}

INSTANTIATE_TEST_SUITE_P(Section1, PublishedRows,
                         testing::Values(Row{1, 3, 8, 256, 1, 2.315, 2.412, 1.181},
                                         Row{3, 3, 8, 256, 64, 42.098, 44.103, 33.077},
                                         Row{5, 3, 8, 256, 128, 48.745, 50.063, 42.098},
                                         Row{6, 3, 8, 256, 256, 52.923, 53.690, 48.745},
                                         Row{8, 3, 8, 256, 512, 52.923, 53.690, 50.748},
                                         Row{9, 3, 8, 256, 513, 50.760, 51.824, 0},
                                         Row{13, 3, 8, 128, 256, 47.719, 49.008, 44.227},
                                         Row{16, 4, 16, 256, 64, 165.382, 173.257, 129.943},
                                         Row{20, 1, 8, 128, 128, 10.221, 10.497, 8.827}),
                         [](const auto& row) { return "Row" + std::to_string(row.param.number); });

TEST(PublishedModel, PasidPrefixVariant) {
  const LinkShape gen3 = link_of(3, 8, 256);
  const LinkShape gen5 = link_of(5, 16, 256);
  const struct {
    LinkShape link;
    std::uint64_t bytes;
    double without, with;
  } rows[] = {{gen3, 64, 42.098, 40.268},
              {gen3, 256, 52.923, 52.178},
              {gen5, 8, 113.700, 101.067},
              {gen5, 64, 330.764, 316.383},
              {gen5, 256, 415.817, 409.961}};
  for (const auto& row : rows) {
    EXPECT_NEAR(published_write_gbps(row.link, row.bytes, kPlain), row.without, kHalfOfThirdDigit);
    EXPECT_NEAR(published_write_gbps(row.link, row.bytes, kPasid), row.with, kHalfOfThirdDigit);
    EXPECT_NEAR(1 - row.with / row.without, share_lost(256, row.bytes, 24, 4), 0.00003);
  }
  EXPECT_NEAR(share_lost(256, 64, 24, 4) * 100, 4.3, 0.05);
  EXPECT_NEAR(share_lost(256, 256, 24, 4) * 100, 1.4, 0.05);
  // Reads: completions carry no prefix and stay the bottleneck.
  EXPECT_DOUBLE_EQ(published_read_gbps(gen3, 64, kPasid), published_read_gbps(gen3, 64, kPlain));
}

TEST(PublishedModel, PasidLossIs4nOver28nPlusS) {
  for (const unsigned mps : {128U, 256U, 512U}) {
    for (const std::uint64_t s : {1U, 8U, 64U, 127U, 128U, 129U, 513U, 4096U}) {
      const double n = std::ceil(static_cast<double>(s) / mps);
      const LinkShape link = link_of(5, 16, mps);
      const double lost = 1 - write_ceiling_gbps(link, s, 28) / write_ceiling_gbps(link, s, 24);
      EXPECT_NEAR(lost, 4 * n / (28 * n + static_cast<double>(s)), 1e-12) << s << " " << mps;
      EXPECT_NEAR(share_lost(mps, s, 24, 4), lost, 1e-12);
    }
  }
  EXPECT_NEAR(share_lost(256, 64, 20, 4), 4.0 / (24 + 64), 1e-12);  // 3DW header
}

/// Bandwidth rises between multiples of the step and drops just behind each.
void expect_sawtooth(double (*bandwidth)(const LinkShape&, std::uint64_t), unsigned step) {
  const LinkShape link = link_of(3, 8, 256);
  for (std::uint64_t s = 1; s < 8 * step; ++s) {
    const double here = bandwidth(link, s);
    const double next = bandwidth(link, s + 1);
    if (s % step == 0) {
      EXPECT_LT(next, here) << s;
    } else {
      EXPECT_GT(next, here) << s;
    }
  }
}

TEST(PublishedModel, BandwidthIsASawtoothInSteps) {
  expect_sawtooth(
      [](const LinkShape& l, std::uint64_t s) { return published_write_gbps(l, s, kPlain); }, 256);
  expect_sawtooth(
      [](const LinkShape& l, std::uint64_t s) { return published_read_gbps(l, s, kPlain); }, 256);
  expect_sawtooth([](const LinkShape& l, std::uint64_t s) { return write_ceiling_gbps(l, s, 24); },
                  256);
}

TEST(PublishedModel, LiesBelowTheCeilingEverywhere) {
  for (const unsigned generation : {1U, 2U, 3U, 4U, 5U}) {
    for (const unsigned lanes : {1U, 4U, 8U, 16U}) {
      const LinkShape link = link_of(generation, lanes, 256);
      EXPECT_LT(published_tlp_gbps(link), raw_gbps(generation, lanes));
      EXPECT_LT(published_write_gbps(link, 64, kPlain), write_ceiling_gbps(link, 64, 24));
    }
  }
  // How far below, as docs/validation.md tells.
  const auto gap = [](const LinkShape& link) {
    return raw_gbps(link.generation, link.lanes) / published_tlp_gbps(link) - 1;
  };
  EXPECT_NEAR(gap(link_of(3, 8, 256)), 0.089, 0.0005);
  EXPECT_NEAR(gap(link_of(4, 16, 256)), 0.108, 0.0005);
  EXPECT_NEAR(gap(link_of(5, 16, 256)), 0.108, 0.0005);
  EXPECT_NEAR(gap(link_of(1, 8, 128)), 0.318, 0.0005);
}

TEST(ClosedForm, CountedPhyAndDllpBytesScaleTheCeiling) {
  const LinkShape link = link_of(5, 16, 256);
  EXPECT_DOUBLE_EQ(expected_write_gbps(link, 64, 24, 0, 0), write_ceiling_gbps(link, 64, 24));
  EXPECT_NEAR(expected_write_gbps(link, 64, 24, 0.1, 0.5), 0.45 * write_ceiling_gbps(link, 64, 24),
              1e-9);
}

// Gen5 columns of the table of flit against non-flit efficiency: the ceiling over the line rate.
TEST(ClosedForm, EfficiencyOfNonFlitGen5ByPayload) {
  const struct {
    std::uint64_t bytes;
    double plain, with_pasid;
  } rows[] = {{8, 24.62, 21.88},   {16, 39.38, 35.80},  {64, 71.61, 68.49},  {128, 82.91, 80.79},
              {256, 90.02, 88.75}, {512, 94.05, 93.36}, {4096, 97.89, 97.79}};
  for (const auto& row : rows) {
    const LinkShape link = link_of(5, 16, 4096);  // one TLP each, as that table has it
    EXPECT_NEAR(write_ceiling_gbps(link, row.bytes, 24) / 512 * 100, row.plain, 0.00501);
    EXPECT_NEAR(write_ceiling_gbps(link, row.bytes, 28) / 512 * 100, row.with_pasid, 0.00501);
  }
}

TEST(Wp350, Row33Writes128BytesAtGen1x8) {
  const LinkShape link = link_of(1, 8, 128);
  EXPECT_NEAR(serialisation_ns(link, 148), 74, 1e-9);
  const double ns = write_burst_ns(link, 200, 128, 20, 5, 4);
  EXPECT_NEAR(ns, 15'160, 1e-6);
  EXPECT_EQ(std::lround(200 * 128 / ns * 1000), 1'689);  // MB/s
}

TEST(Wp350, Row34Writes512BytesAtGen1x8) {
  const LinkShape link = link_of(1, 8, 512);
  EXPECT_NEAR(serialisation_ns(link, 532), 266, 1e-9);
  const double ns = write_burst_ns(link, 50, 512, 20, 5, 4);
  EXPECT_NEAR(ns, 13'392, 1e-6);
  EXPECT_EQ(std::lround(50 * 512 / ns * 1000), 1'912);
}

TEST(Wp350, EfficiencyByPayloadAt20BytesOfOverhead) {
  const double percent[] = {86.5, 92.8, 96.2, 98.1};
  const std::uint64_t bytes[] = {128, 256, 512, 1024};
  for (std::size_t i = 0; i < 4; ++i) {
    const LinkShape link = link_of(1, 8, 1024);
    EXPECT_NEAR(write_ceiling_gbps(link, bytes[i], 20) / raw_gbps(1, 8) * 100, percent[i], 0.0501);
  }
}

TEST(LinkSanity, Row61And62SerialisationOfWrites) {
  EXPECT_NEAR(serialisation_ns(link_of(1, 1, 256), 88), 352, 1e-9);
  EXPECT_NEAR(serialisation_ns(link_of(3, 8, 256), 88), 11.172, kHalfOfThirdDigit);
  EXPECT_NEAR(serialisation_ns(link_of(4, 8, 256), 88), 5.586, kHalfOfThirdDigit);
  EXPECT_NEAR(serialisation_ns(link_of(5, 16, 256), 88), 1.396, kHalfOfThirdDigit);
  EXPECT_NEAR(serialisation_ns(link_of(3, 8, 256), 280), 35.547, kHalfOfThirdDigit);
  EXPECT_NEAR(serialisation_ns(link_of(4, 16, 256), 280), 8.887, kHalfOfThirdDigit);
  EXPECT_NEAR(serialisation_ns(link_of(5, 16, 256), 280), 4.443, kHalfOfThirdDigit);
}

TEST(LinkSanity, Row63AckAndReplayLimit) {
  EXPECT_EQ(ack_limit_symbols(3, 8, 256), 203U);
  EXPECT_EQ(kReplayAckLimits * ack_limit_symbols(3, 8, 256), 609U);
}

TEST(LinkSanity, Row64CreditsToSaturateWrites) {
  const double tlp = serialisation_ns(link_of(3, 8, 256), 88);
  EXPECT_EQ(in_flight_to_saturate(500, tlp), 45U);
  EXPECT_EQ(in_flight_to_saturate(500, tlp) * 64 / 16, 180U);
}

TEST(LinkSanity, Row65TagsToSaturateReads) {
  const double completion = serialisation_ns(link_of(3, 8, 256), 84);
  EXPECT_NEAR(completion, 10.66, 0.00501);
  EXPECT_EQ(in_flight_to_saturate(540, completion), 51U);
}

TEST(BreakEven, IsTheBytesOfAResidencyOverTheBytesSaved) {
  EXPECT_DOUBLE_EQ(break_even_tlps(32, 0, 4), 8);
  EXPECT_DOUBLE_EQ(break_even_tlps(32, 28, 4), 15);
  EXPECT_TRUE(std::isinf(break_even_tlps(32, 28, 0)));
}

TEST(Patent, A512BitMessageGrowsTo548BitsByA36BitIdentifier) {
  EXPECT_NEAR(identity_growth(512, 36) * 100, 7.03, 0.005);
  EXPECT_DOUBLE_EQ(512 * (1 + identity_growth(512, 36)), 548);
  EXPECT_NEAR(data_share(512, 36) * 100, 93.43, 0.005);
  EXPECT_NEAR((1 - data_share(512, 36)) * 100, 6.57, 0.005);
  EXPECT_NEAR(data_share(512, 12) * 100, 97.71, 0.005);
  EXPECT_DOUBLE_EQ(data_share(512, 0), 1);
}

// [DHI D24] 80, 64 and 128 bits with 16 of CRC hold 64, 48 and 112 bits.
TEST(Flits, AlignedMessagesRiseInStairs) {
  const struct {
    unsigned flit_bits;
    std::uint64_t flits[3];  ///< 512 bits of payload and 0, 12, 36 of identity
  } rows[] = {{80, {8, 9, 9}}, {64, {11, 11, 12}}, {128, {5, 5, 5}}};
  const unsigned identity[] = {0, 12, 36};
  for (const auto& row : rows) {
    const FlitShape flit{row.flit_bits, 16};
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(aligned_flits(flit, 512 + identity[i]), row.flits[i])
          << row.flit_bits << " " << identity[i];
    }
    std::uint64_t before = 0;
    for (std::uint64_t bits = 1; bits <= 1024; ++bits) {
      const std::uint64_t flits = aligned_flits(flit, bits);
      EXPECT_EQ(flits - before, bits % (row.flit_bits - 16) == 1 ? 1U : 0U) << bits;
      before = flits;
    }
  }
}

TEST(Flits, ContiguousMessagesShareFlitsAndNeverTakeMore) {
  const FlitShape flit{80, 16};
  EXPECT_EQ(contiguous_flits(flit, 548, 1), 9U);
  EXPECT_EQ(contiguous_flits(flit, 548, 16), 137U);  // 16 * 548 / 64 exactly
  EXPECT_EQ(contiguous_flits(flit, 548, 17), 146U);
  for (std::uint64_t bits = 500; bits < 600; ++bits) {
    for (std::uint64_t n = 1; n < 100; ++n) {
      ASSERT_LE(contiguous_flits(flit, bits, n), n * aligned_flits(flit, bits));
    }
  }
}

}  // namespace
}  // namespace flitwise::published_numbers_test
