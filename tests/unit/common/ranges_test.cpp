// SPDX-License-Identifier: Apache-2.0
// Lists, sums and look-ups.
#include "common/ranges.h"

#include <gtest/gtest.h>

#include <boost/circular_buffer.hpp>
#include <string>
#include <vector>

namespace flitwise::ranges_test {

struct Item {
  std::string name;
  unsigned count = 0;
};
const std::vector<Item> kItems = {{"a", 1}, {"b", 2}, {"c", 4}};

TEST(Ranges, ListsWhatIsMadeOfEachElement) {
  EXPECT_EQ(mapped(kItems, &Item::name), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(mapped<unsigned>(kItems, [](const Item& one) { return one.count * 2; }),
            (std::vector<unsigned>{2, 4, 8}));
}

TEST(Ranges, AddsUpNumbersAndTexts) {
  EXPECT_EQ(sum_of<unsigned>(kItems, &Item::count), 7U);
  EXPECT_EQ(sum_of(kItems, &Item::name), "abc");
  EXPECT_EQ(sum_of(std::vector<Item>{}, &Item::name), "");
}

TEST(Ranges, MakesRoomOnlyInAFullBuffer) {
  boost::circular_buffer<int> ring(2);
  ring.push_back(1);
  make_room(ring);
  EXPECT_EQ(ring.capacity(), 2U);
  ring.push_back(2);
  make_room(ring);
  ring.push_back(3);
  EXPECT_EQ(std::vector<int>(ring.begin(), ring.end()), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(ring.capacity(), 4U);
}

TEST(Ranges, KeepsThoseOfWhichItIsTrue) {
  const std::vector<Item> found = those(kItems, [](const Item& one) { return one.count != 2; });
  EXPECT_EQ(mapped(found, &Item::name), (std::vector<std::string>{"a", "c"}));
}

TEST(Ranges, FindsTheFirstOrNothing) {
  EXPECT_EQ(find_where(kItems, [](const Item& one) { return one.count > 1; }), &kItems[1]);
  EXPECT_EQ(find_where(kItems, [](const Item& one) { return one.count > 4; }), nullptr);
}

}  // namespace flitwise::ranges_test
