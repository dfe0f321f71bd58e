// SPDX-License-Identifier: Apache-2.0
#include "srdma/port_pairs.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace flitwise::port_pairs_test {
namespace {

constexpr IpPair kPath{0x0a000001, 0x0a000002};
constexpr Time kNow = Time::from_us(1);

PortPairs pairs_of(PortRange source, PortRange destination, std::uint64_t seed = 1) {
  PortRules rules;
  rules.source = source;
  rules.destination = destination;
  return PortPairs(rules, KeyedStream(seed, "port"));
}

TEST(PortPairs, SG_1_PortsComeFromBothRanges) {
  PortPairs ports = pairs_of({1, 3}, {50000, 50004});
  for (int i = 0; i < 15; ++i) {
    const auto tuple = ports.draw(kPath, kNow);
    ASSERT_TRUE(tuple);
    EXPECT_GE(tuple->source_port, 1);
    EXPECT_LE(tuple->source_port, 3);
    EXPECT_GE(tuple->destination_port, 50000);
    EXPECT_LE(tuple->destination_port, 50004);
    EXPECT_EQ(tuple->source, kPath.local);
    EXPECT_EQ(tuple->destination, kPath.remote);
  }
}

TEST(PortPairs, SG_3_EachPairOnceUntilNoneIsLeft) {
  PortPairs ports = pairs_of({100, 109}, {200, 219});
  std::set<std::pair<int, int>> seen;
  std::set<int> sources;
  for (int i = 0; i < 200; ++i) {
    const auto tuple = ports.draw(kPath, kNow);
    ASSERT_TRUE(tuple) << i;
    seen.insert({tuple->source_port, tuple->destination_port});
    sources.insert(tuple->source_port);
  }
  EXPECT_EQ(seen.size(), 200U);
  EXPECT_EQ(sources.size(), 10U);  // one port serves in several pairs
  EXPECT_FALSE(ports.draw(kPath, kNow));
  EXPECT_EQ(ports.in_use(), 200U);                                 // ENOPORT changes nothing
  EXPECT_TRUE(ports.draw({kPath.local, kPath.remote + 1}, kNow));  // another peer
}

TEST(PortPairs, SG_3_ReservedAndBoundPortsAreNeverDrawn) {
  PortRules rules;
  rules.source = rules.destination = {4789, 4793};
  rules.reserved = {4793, 4791, 4791, 1};
  PortPairs ports(rules, KeyedStream(1, "port"));
  EXPECT_TRUE(ports.bind(4790));
  std::set<std::pair<int, int>> seen;
  while (const auto tuple = ports.draw(kPath, kNow)) {
    seen.insert({tuple->source_port, tuple->destination_port});
    EXPECT_NE(tuple->source_port, 4790);  // here; it says nothing about the peer
  }
  EXPECT_EQ(seen.size(), 2U * 3U);
  for (const auto& [source, destination] : seen) {
    EXPECT_NE(source, 4791);
    EXPECT_NE(source, 4793);
    EXPECT_NE(destination, 4791);
    EXPECT_NE(destination, 4793);
  }
}

TEST(PortPairs, SG_3_APortThatASessionHasCannotBeBound) {
  PortPairs ports = pairs_of({100, 100}, {200, 200});
  const auto tuple = ports.draw(kPath, kNow);
  EXPECT_FALSE(ports.bind(100));
  EXPECT_TRUE(ports.bind(200));  // the peer's
  ports.release(*tuple, kNow, false);
  EXPECT_TRUE(ports.bind(100));
}

TEST(PortPairs, SG_2_OfBothDirections) {
  PortPairs ports = pairs_of({100, 100}, {200, 200});
  const SessionTuple tuple{kPath.local, kPath.remote, 100, 200};
  EXPECT_TRUE(ports.take(tuple, kNow));  // the peer has drawn it
  EXPECT_FALSE(ports.take(tuple, kNow));
  EXPECT_FALSE(ports.draw(kPath, kNow));
  EXPECT_TRUE(ports.is_in_use(tuple));
  EXPECT_FALSE(ports.is_in_use({kPath.local, kPath.remote, 200, 100}));
}

TEST(PortPairs, HS_5_APairOfThePeerWithAPortThatIsBoundOrReservedIsRefused) {
  PortPairs ports = pairs_of({100, 100}, {200, 200});
  ports.bind(300);
  EXPECT_FALSE(ports.take({kPath.local, kPath.remote, 300, 9}, kNow));
  EXPECT_TRUE(ports.take({kPath.local, kPath.remote, 9, 300}, kNow));
  EXPECT_FALSE(ports.take({kPath.local, kPath.remote, 9, 4791}, kNow));
}

TEST(PortPairs, SG_C4_APairRestsBeforeItIsUsedAgain) {
  PortRules rules;
  rules.source = rules.destination = {100, 100};
  rules.quarantine = Time::from_us(20);
  PortPairs ports(rules, KeyedStream(1, "port"));
  const auto tuple = ports.draw(kPath, kNow);
  ASSERT_TRUE(tuple);
  ports.release(*tuple, kNow, true);
  EXPECT_EQ(ports.in_use(), 0U);
  EXPECT_FALSE(ports.draw(kPath, kNow + Time::from_us(20) - Time{1}));
  EXPECT_FALSE(ports.take(*tuple, kNow + Time::from_us(20) - Time{1}));
  EXPECT_TRUE(ports.draw(kPath, kNow + Time::from_us(20)));
  ports.release(*tuple, kNow + Time::from_us(20), false);  // nothing has been sent by it
  EXPECT_TRUE(ports.draw(kPath, kNow + Time::from_us(20)));
}

TEST(PortPairs, SEL_8_GuessesAreNoBetterThanChance) {
  PortPairs ports = pairs_of({49152, 65535}, {49152, 65535});
  PortPairs same = pairs_of({49152, 65535}, {49152, 65535});
  PortPairs other = pairs_of({49152, 65535}, {49152, 65535}, 2);
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto one = ports.draw(kPath, kNow);
    EXPECT_EQ(*one, *same.draw(kPath, kNow));
    equal += *one == *other.draw(kPath, kNow) ? 1 : 0;
  }
  EXPECT_EQ(equal, 0);
}

// A random run against a set.
TEST(PortPairs, SG_3_RandomRunAgainstASet) {
  PortPairs ports = pairs_of({10, 17}, {20, 27});
  KeyedStream random(9, "test");
  std::vector<SessionTuple> used;
  std::set<std::pair<int, int>> set;
  for (int i = 0; i < 20'000; ++i) {
    if (random.below(2) == 0) {
      if (const auto tuple = ports.draw(kPath, kNow)) {
        ASSERT_TRUE(set.insert({tuple->source_port, tuple->destination_port}).second);
        used.push_back(*tuple);
      } else {
        ASSERT_EQ(set.size(), 64U);
      }
    } else if (!used.empty()) {
      const std::size_t at = random.below(used.size());
      ports.release(used[at], kNow, false);
      set.erase({used[at].source_port, used[at].destination_port});
      used[at] = used.back();
      used.pop_back();
    }
    ASSERT_EQ(ports.in_use(), set.size());
  }
}

}  // namespace
}  // namespace flitwise::port_pairs_test
