// SPDX-License-Identifier: Apache-2.0
// Suggestions by edit distance.
#include "common/problems.h"

#include <gtest/gtest.h>

namespace flitwise::config::problems_test {
namespace {

TEST(Nearest, IsTheClosestWordWithinHalfTheLength) {
  EXPECT_EQ(nearest("presett", {"mps", "preset", "pres"}), "preset");
  EXPECT_EQ(nearest("qqqqqq", {"mps", "preset"}), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  EXPECT_EQ(nearest("bitz", {"biz", "bits", "bots"}), "bits");
}

TEST(Alternatives, ReadAsASentence) {
  EXPECT_EQ(alternatives({"a"}), "a");
  EXPECT_EQ(alternatives({"a", "b"}), "a or b");
  EXPECT_EQ(alternatives({"a", "b", "c"}), "a, b or c");
}

TEST(ProblemList, IsInOrderOfSourceLineAndColumnWithoutRepeats) {
  ProblemList list;
  list.add({"--set a=1", 0, 0, 2}, "a", "third");
  list.add({"f", 3, 1, 0}, "", "second");
  list.add({"f", 2, 9, 0}, "", "first");
  list.add({"f", 3, 1, 0}, "", "second");
  const auto sorted = list.sorted();
  ASSERT_EQ(sorted.size(), 3U);
  EXPECT_EQ(sorted[0].text(), "f:2:9: first");
  EXPECT_EQ(sorted[1].text(), "f:3:1: second");
  EXPECT_EQ(sorted[2].text(), "--set a=1: third");
}

}  // namespace
}  // namespace flitwise::config::problems_test
