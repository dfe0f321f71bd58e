// SPDX-License-Identifier: Apache-2.0
// Hashes of 5-tuples: their check values, and how evenly they spread. [NW-2] [NW-3]
#include "network/flow_hash.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "support/network_forms.h"

namespace flitwise::flow_hash_test {
namespace {

constexpr FlowHash kHashes[] = {FlowHash::kCrc32c, FlowHash::kToeplitz, FlowHash::kXorFold};
constexpr double kLeastP = 1e-4;

constexpr std::uint32_t address(unsigned a, unsigned b, unsigned c, unsigned d) {
  return a << 24 | b << 16 | c << 8 | d;
}

FiveTuple random_tuple(Random& random) {
  return {static_cast<std::uint32_t>(random.next()), static_cast<std::uint32_t>(random.next()),
          static_cast<std::uint16_t>(random.next()), static_cast<std::uint16_t>(random.next())};
}

TEST(FlowHash, NW_2_CheckValues) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32c(reinterpret_cast<const std::uint8_t*>(digits.data()), digits.size()),
            0xe3069283U);
  // From the page of receive-side scaling.
  EXPECT_EQ(hash_of({address(66, 9, 149, 187), address(161, 142, 100, 80), 2794, 1766},
                    FlowHash::kToeplitz),
            0x51ccc178U);
  EXPECT_EQ(hash_of({address(199, 92, 111, 2), address(65, 69, 140, 83), 14230, 4739},
                    FlowHash::kToeplitz),
            0xc626b0eaU);
  EXPECT_EQ(hash_of({0x0a000001, 0x0a000002, 0xc000, 0xc001}, FlowHash::kXorFold),
            0x00000003U ^ 0xc000c001U ^ 17U);
}

TEST(FlowHash, NW_2_Crc32cIsThatOfThe13BytesOfTheTuple) {
  Random random(5);
  for (unsigned i = 0; i < 1000; ++i) {
    const FiveTuple tuple = random_tuple(random);
    std::vector<std::uint8_t> bytes;
    const auto put = [&bytes](std::uint32_t value, unsigned count) {
      while (count > 0) {
        bytes.push_back(static_cast<std::uint8_t>(value >> 8 * --count));
      }
    };
    put(tuple.source, 4);
    put(tuple.destination, 4);
    put(tuple.source_port, 2);
    put(tuple.destination_port, 2);
    put(17, 1);
    EXPECT_EQ(hash_of(tuple, FlowHash::kCrc32c), crc32c(bytes.data(), bytes.size()));
  }
}

TEST(FlowHash, NW_2_SymmetricHashesAreThoseOfEitherDirection) {
  Random random(6);
  for (const FlowHash hash : kHashes) {
    unsigned differ = 0;
    for (unsigned i = 0; i < 200; ++i) {
      FiveTuple tuple = random_tuple(random);
      tuple.destination = i % 2 == 0 ? tuple.source : tuple.destination;  // the port decides
      const FiveTuple back{tuple.destination, tuple.source, tuple.destination_port,
                           tuple.source_port};
      EXPECT_EQ(hash_of(tuple, hash, true), hash_of(back, hash, true));
      differ += hash_of(tuple, hash) != hash_of(back, hash) ? 1 : 0;
    }
    EXPECT_GT(differ, 190U) << name_of(hash);
  }
}

// Counts of ports of 1e5 tuples, for each hash, seed and number of ports.
template <class Make>
void expect_even(Make make) {
  for (const FlowHash hash : kHashes) {
    for (const unsigned ports : {3U, 4U, 16U}) {
      for (const std::uint32_t seed : {0U, 0xdeadbeefU}) {
        Random random(seed + ports);
        std::vector<std::uint64_t> counts(ports);
        for (unsigned i = 0; i < 100'000; ++i) {
          ++counts[with_seed(hash_of(make(random, i), hash), seed) % ports];
        }
        const double p = forms::chi_square_p(counts);
        EXPECT_GT(p, kLeastP) << name_of(hash) << " " << ports << " " << seed;
        EXPECT_LT(p, 1 - kLeastP) << name_of(hash) << " " << ports << " " << seed;
      }
    }
  }
}

TEST(FlowHash, NW_2_RandomTuplesAreSpreadEvenly) {
  expect_even([](Random& random, unsigned) { return random_tuple(random); });
}

TEST(FlowHash, NW_2_NearbyPortsAreSpreadEvenly) {
  expect_even([](Random&, unsigned i) {
    return FiveTuple{address(10, 0, 0, 1), address(10, 0, 0, 2),
                     static_cast<std::uint16_t>(49152 + i / 16384),
                     static_cast<std::uint16_t>(49152 + i % 16384)};
  });
}

// Of the flows that share a port of one switch, the next one spreads them again; with the seed of
// the first one it does not.
TEST(FlowHash, NW_C6_SwitchesWithSeedsOfTheirOwnSpreadAnew) {
  constexpr unsigned kPorts = 8;
  const auto ports_behind = [](FlowHash hash, const std::vector<std::uint32_t>& seeds) {
    std::set<unsigned> seen;
    Random random(7);
    for (unsigned i = 0; i < 4000; ++i) {
      const std::uint32_t raw = hash_of(random_tuple(random), hash);
      if (with_seed(raw, seeds[0]) % kPorts == 0) {
        seen.insert(with_seed(raw, seeds[1]) % kPorts);
      }
    }
    return seen.size();
  };
  for (const FlowHash hash : kHashes) {
    EXPECT_EQ(ports_behind(hash, switch_seeds(Random(1).split("ecmp"), 2, false)), kPorts);
    EXPECT_EQ(ports_behind(hash, switch_seeds(Random(1).split("ecmp"), 2, true)), 1U);
  }
}

TEST(FlowHash, NW_3_SeedsAreThoseOfTheStream) {
  const Random stream = Random(1).split("ecmp");
  const auto own = switch_seeds(stream, 300, false);
  EXPECT_EQ(std::set<std::uint32_t>(own.begin(), own.end()).size(), 300U);
  EXPECT_EQ(own, switch_seeds(stream, 300, false));
  EXPECT_NE(own, switch_seeds(Random(2).split("ecmp"), 300, false));
  EXPECT_EQ(switch_seeds(stream, 3, true), std::vector<std::uint32_t>(3, own[0]));
}

}  // namespace
}  // namespace flitwise::flow_hash_test
