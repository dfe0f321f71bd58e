// SPDX-License-Identifier: Apache-2.0
// Streams of packets that nobody answers. [NW-7]
#include "workload/background_packets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace flitwise::background_packets_test {
namespace {

constexpr unsigned kPackets = 200'000;

struct Stream {
  double gbps;       ///< over all
  double variation;  ///< of gaps: standard deviation over mean
  std::int64_t shortest;
};
Stream stream_of(const BackgroundRules& rules, std::uint64_t seed = 1) {
  BackgroundPackets packets(rules, Random(seed));
  Time last = packets.next();
  const Time first = last;
  double sum = 0, square = 0;
  std::int64_t shortest = Time::never().fs;
  for (unsigned i = 0; i < kPackets; ++i) {
    const Time at = packets.next();
    const double gap = static_cast<double>((at - last).fs);
    EXPECT_GE(gap, 0);
    shortest = std::min(shortest, (at - last).fs);
    sum += gap;
    square += gap * gap;
    last = at;
  }
  const double mean = sum / kPackets;
  return {
      static_cast<double>(rules.bytes) * 8e6 * kPackets / static_cast<double>((last - first).fs),
      std::sqrt(std::max(0.0, square / kPackets - mean * mean)) / mean, shortest};
}

TEST(BackgroundPackets, NW_7_PoissonStreamsHaveExponentialGaps) {
  const Stream seen = stream_of({BackgroundKind::kPoisson, 20, 1082, Time{1}, Time{1}});
  EXPECT_NEAR(seen.gbps, 20, 20 * 4 / std::sqrt(kPackets));
  EXPECT_NEAR(seen.variation, 1, 0.02);
}

TEST(BackgroundPackets, NW_7_ConstantStreamsAreEven) {
  const Stream seen = stream_of({BackgroundKind::kConstant, 20, 1000, Time{1}, Time{1}});
  EXPECT_NEAR(seen.gbps, 20, 1e-3);
  EXPECT_NEAR(seen.variation, 0, 1e-3);
  BackgroundPackets one({BackgroundKind::kConstant, 20, 1000, Time{1}, Time{1}}, Random(1)),
      other({BackgroundKind::kConstant, 20, 1000, Time{1}, Time{1}}, Random(2));
  EXPECT_NE(one.next(), other.next());
}

TEST(BackgroundPackets, NW_7_OnOffStreamsPauseAndKeepTheAverage) {
  const BackgroundRules rules{BackgroundKind::kOnOff, 20, 1000, Time::from_us(10),
                              Time::from_us(30)};
  const Stream seen = stream_of(rules);
  EXPECT_NEAR(seen.gbps, 20, 1);
  EXPECT_EQ(seen.shortest, Time::from_ns(100).fs);  // 80 Gb/s while on
  EXPECT_GT(seen.variation, 2);
}

}  // namespace
}  // namespace flitwise::background_packets_test
