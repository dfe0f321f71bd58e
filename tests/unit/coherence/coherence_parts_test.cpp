// SPDX-License-Identifier: Apache-2.0
// The small parts: records of lines, ids, the monitor.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "coherence/agent_books.h"
#include "coherence/single_writer_monitor.h"
#include "unit/coherence/line_history.h"

namespace flitwise::test::coherence_parts_test {
namespace {

TEST(LineTable, IsAMap) {
  std::mt19937_64 random(1);
  LineTable<std::uint64_t> table;
  std::map<std::uint64_t, std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t line = random() % 300 * kCxlLineBytes + (random() % 2 << 40);
    if (random() % 2 == 0) {
      table[line] = i;
      expected[line] = i;
    } else {
      table.erase(line);
      expected.erase(line);
    }
    const std::uint64_t other = random() % 300 * kCxlLineBytes;
    const auto found = expected.find(other);
    ASSERT_EQ(table.find(other) != nullptr, found != expected.end());
    if (found != expected.end()) {
      ASSERT_EQ(*table.find(other), found->second);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
}

// [COH-1.3]
TEST(IdPool, GivesEachIdOnce) {
  IdPool pool(3);
  std::vector<bool> seen(3);
  for (int i = 0; i < 3; ++i) {
    const std::uint16_t id = pool.acquire();
    EXPECT_FALSE(seen[id]);
    seen[id] = true;
  }
  EXPECT_EQ(pool.available(), 0U);
  EXPECT_TRUE(pool.is_out(1));
  EXPECT_FALSE(pool.is_out(3));
  pool.release(1);
  EXPECT_FALSE(pool.is_out(1));
  EXPECT_EQ(pool.outstanding(), 2U);
  EXPECT_EQ(pool.acquire(), 1U);
}

TEST(LineHistory, AReadIsRightOnlyInItsTime) {
  LineHistory line;
  line.write(10, line_of_value(1), kAllBytes);
  line.write(20, line_of_value(2), kAllBytes);
  EXPECT_TRUE(line.was(line_of_value(0), 5, 8));
  EXPECT_TRUE(line.was(line_of_value(1), 15, 25));
  EXPECT_TRUE(line.was(line_of_value(2), 15, 25));
  EXPECT_FALSE(line.was(line_of_value(0), 15, 25)) << "older than its issue";
  EXPECT_FALSE(line.was(line_of_value(2), 5, 15)) << "newer than its end";
}

TEST(SingleWriterMonitor, COH_1_2_AnOwnerIsAlone) {
  constexpr LineState kI = LineState::kInvalid, kS = LineState::kShared, kE = LineState::kExclusive,
                      kM = LineState::kModified;
  struct Pair {
    LineState first, second;
    bool is_right;
  };
  for (const Pair& pair : {Pair{kS, kS, true},
                           {kI, kM, true},
                           {kM, kI, true},
                           {kS, kE, false},
                           {kE, kS, false},
                           {kM, kM, false},
                           {kM, kS, false},
                           {kS, kM, false}}) {
    SingleWriterMonitor monitor;
    monitor.told(3, 0x40, pair.first);
    monitor.told(5, 0x80, LineState::kModified);
    monitor.told(1, 0x40, pair.second);
    EXPECT_EQ(monitor.count(), pair.is_right ? 0U : 1U);
    if (!pair.is_right) {
      ASSERT_EQ(monitor.first().size(), 1U);
      const SingleWriterViolation& violation = monitor.first().front();
      EXPECT_STREQ(violation.rule, "COH-1.2");
      EXPECT_EQ(violation.line, 0x40U);
      EXPECT_EQ(violation.agent, 1);
      EXPECT_EQ(violation.other, 3);
      EXPECT_EQ(violation.state, pair.second);
      EXPECT_EQ(violation.other_state, pair.first);
    }
  }
}

TEST(SingleWriterMonitor, COH_1_2_AChangeOfItsOwnIsNoViolation) {
  SingleWriterMonitor monitor;
  for (const LineState state : {LineState::kShared, LineState::kExclusive, LineState::kModified,
                                LineState::kShared, LineState::kInvalid}) {
    monitor.told(0, 0x40, state);
  }
  monitor.told(1, 0x40, LineState::kModified);
  EXPECT_EQ(monitor.count(), 0U);
}

}  // namespace
}  // namespace flitwise::test::coherence_parts_test
