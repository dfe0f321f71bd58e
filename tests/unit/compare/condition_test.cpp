// SPDX-License-Identifier: Apache-2.0
// Conditions of --fail-if: what they mean, and what is said of one that means nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/comparison.h"
#include "flitwise/error.h"

namespace flitwise::condition_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string problem(const std::string& text) {
  try {
    read_condition(text);
  } catch (const ConfigError& error) {
    return error.problems().front().text();
  }
  return "";
}

/// Goodput from 100 to 97 at p and to 99 at q, a latency from 0 to 5 at p.
Comparison sample() {
  Comparison comparison;
  comparison.figures = {{"p", "up_goodput_gbps", 100, 97, 0.5},
                        {"q", "up_goodput_gbps", 100, 99, std::nullopt},
                        {"p", "dma_read_p99_ns", 0, 5, std::nullopt}};
  return comparison;
}

std::vector<std::string> failed(const std::string& condition) {
  return failures_of(sample(), {read_condition(condition)});
}

TEST(Condition, HasAFigureADirectionAndALimit) {
  const Condition percent = read_condition(" up_goodput_gbps  <-2.5 % ");
  EXPECT_EQ(percent.figure, "up_goodput_gbps");
  EXPECT_FALSE(percent.is_above);
  EXPECT_TRUE(percent.is_percent);
  EXPECT_EQ(percent.limit, -2.5);
  const Condition absolute = read_condition("rp1-ep1_up_tlps>+1e3");
  EXPECT_EQ(absolute.figure, "rp1-ep1_up_tlps");
  EXPECT_TRUE(absolute.is_above);
  EXPECT_FALSE(absolute.is_percent);
  EXPECT_EQ(absolute.limit, 1000);
}

TEST(Condition, AMistakeIsPointedAt) {
  EXPECT_THAT(problem(""), HasSubstr("--fail-if:1:1: ''; expected a figure, < or >, and a number"));
  EXPECT_THAT(problem("up_tlps"), HasSubstr(":1:8: 'up_tlps'; expected a figure, < or >"));
  EXPECT_THAT(problem(" < 2"), HasSubstr(":1:2: ' < 2'; expected the name of a figure"));
  for (const std::string text :
       {"a < ", "a < b", "a < %", "a < nan", "a < inf", "a < +-2", "a < 1e999", "a <= 2"}) {
    EXPECT_THAT(problem(text), HasSubstr("expected a number, as in 'up_goodput_gbps < -2%'"))
        << text;
  }
  EXPECT_THAT(problem("a < 2 x"), HasSubstr(":1:7: 'a < 2 x'; expected nothing or % behind"));
  EXPECT_THAT(problem("a < 2%%"), HasSubstr("expected nothing or % behind"));
  EXPECT_THAT(problem("a < 2 < 3"), HasSubstr(":1:7: "));
}

TEST(Condition, NamesThePointsThatMeetIt) {
  EXPECT_THAT(failed("up_goodput_gbps < -2%"), ElementsAre("up_goodput_gbps < -2%: -3.00 % at p"));
  EXPECT_THAT(failed("up_goodput_gbps < -0.5"), ElementsAre("up_goodput_gbps < -0.5: -3 ± 0.5 at p",
                                                            "up_goodput_gbps < -0.5: -1 at q"));
  EXPECT_THAT(failed("up_goodput_gbps < -3"), ElementsAre()) << "the limit itself is allowed";
  EXPECT_THAT(failed("up_goodput_gbps > 0"), ElementsAre());
  EXPECT_THAT(failed("up_goodput_gbps > -2"), ElementsAre("up_goodput_gbps > -2: -1 at q"))
      << "behind one that does not meet it";
  EXPECT_THAT(failed("dma_read_p99_ns > 1000%"),
              ElementsAre("dma_read_p99_ns > 1000%: from 0 at p"));
}

TEST(Condition, ItsFigureHasToBeThere) {
  const auto said = [](const std::string& condition) -> std::string {
    try {
      failed(condition);
    } catch (const ConfigError& error) {
      return error.problems().front().text();
    }
    return "";
  };
  EXPECT_THAT(said("up_godput_gbps < 1"),
              HasSubstr("no point of both has a figure 'up_godput_gbps'; expected a column of "
                        "results; nearest figure 'up_goodput_gbps'"));
  EXPECT_EQ(said("errors_unsupported_request > 0"), "") << "none occurred";
  EXPECT_THAT(said("errors_unsuported_request > 0"), HasSubstr("has a figure"));
}

}  // namespace
}  // namespace flitwise::condition_test
