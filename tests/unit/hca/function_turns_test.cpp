// SPDX-License-Identifier: Apache-2.0
// Turns of functions by weight.
#include "hca/function_turns.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace flitwise::function_turns_test {
namespace {

TEST(FunctionTurns, WithoutWeightsFirstComeFirstServed) {
  const std::vector<unsigned> none;
  FunctionTurns turns(3, none);
  for (const std::uint32_t item : {5U, 3U, 4U}) {
    turns.push(item % 3, item);
  }
  for (const std::uint32_t item : {5U, 3U, 4U}) {
    EXPECT_EQ(turns.take(), item);
  }
  EXPECT_TRUE(turns.empty());
}

TEST(FunctionTurns, HP_8_FunctionsThatAlwaysHaveSomethingGoByTheirWeights) {
  std::vector<unsigned> weights = {3, 1};
  FunctionTurns turns(3, weights);  // the last one has 1
  for (const std::uint32_t function : {0U, 1U, 2U}) {
    turns.push(function, function);
  }
  std::map<std::uint32_t, unsigned> served;
  const auto serve = [&](unsigned times) {
    served.clear();
    for (unsigned i = 0; i < times; ++i) {
      const std::uint32_t function = turns.take();
      ++served[function];
      turns.push(function, function);
    }
  };
  serve(500);
  EXPECT_EQ(served[0], 300U);
  EXPECT_EQ(served[1], 100U);
  EXPECT_EQ(served[2], 100U);
  weights[1] = 6;  // from its next turn on
  serve(1000);
  EXPECT_NEAR(served[1], 600, 6);
}

TEST(FunctionTurns, HP_8_OneThatHasNothingHoldsNobodyUp) {
  const std::vector<unsigned> weights = {7, 1};
  FunctionTurns turns(2, weights);
  turns.push(1, 10);
  turns.push(1, 11);
  EXPECT_EQ(turns.take(), 10U);
  EXPECT_EQ(turns.take(), 11U);
}

}  // namespace
}  // namespace flitwise::function_turns_test
