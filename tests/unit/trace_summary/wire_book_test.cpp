// SPDX-License-Identifier: Apache-2.0
// When wires were busy, against a count of each picosecond.
#include "trace_summary/wire_book.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace flitwise::wire_book_test {
namespace {

TEST(WireBook, SpansThatOverlapInAnyOrderAreBusyOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    constexpr std::int64_t kEnd = 200;
    std::array<int, kEnd> is_busy{};
    BusyTime busy;
    for (int i = 0; i < 12; ++i) {
      const auto first = static_cast<std::int64_t>(random() % 180);
      const auto last = first + static_cast<std::int64_t>(random() % 20);
      busy.add(first, last);
      for (auto at = first; at < last; ++at) {
        is_busy[static_cast<std::size_t>(at)] = 1;
      }
    }
    busy.close();
    for (std::int64_t from = 0; from < kEnd; from += 7) {
      std::int64_t due = 0;
      for (std::int64_t until = from; until < kEnd; ++until) {
        ASSERT_EQ(busy.between(from, until), due) << round << ": " << from << " to " << until;
        due += is_busy[static_cast<std::size_t>(until)];
      }
    }
    EXPECT_EQ(busy.total(), busy.between(0, kEnd));
  }
}

TEST(WireBook, NothingIsNeverBusy) {
  BusyTime busy;
  busy.close();
  EXPECT_EQ(busy.total(), 0);
  EXPECT_EQ(busy.between(-5, 5), 0);
}

TEST(WireBook, TheOppositeWireIsTheOtherDirectionOfTheSameLink) {
  WireBook wires;
  const std::size_t up = wires.number_of("a", "up"), other = wires.number_of("b", "down"),
                    down = wires.number_of("a", "down");
  EXPECT_EQ(wires.number_of("a", "up"), up);
  EXPECT_EQ(wires.opposite(up), down);
  EXPECT_EQ(wires.opposite(down), up);
  EXPECT_EQ(wires.opposite(other), WireBook::kNone);
  EXPECT_EQ(wires[down].name(), "a down");
}

}  // namespace
}  // namespace flitwise::wire_book_test
