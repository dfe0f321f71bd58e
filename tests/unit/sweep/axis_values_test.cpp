// SPDX-License-Identifier: Apache-2.0
// Ranges and evenly spaced values of sweep files.
#include "sweep/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flitwise::axis_values_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ExpandRange, MultipliesSizesAndKeepsBothEnds) {
  EXPECT_THAT(expand_range("8B..64B:*2").values, ElementsAre("8B", "16B", "32B", "64B"));
  EXPECT_THAT(expand_range("512B..4KiB:*2").values, ElementsAre("512B", "1KiB", "2KiB", "4KiB"));
}

TEST(ExpandRange, AddsNumbers) {
  EXPECT_THAT(expand_range("2..12:+2").values, ElementsAre("2", "4", "6", "8", "10", "12"));
  EXPECT_THAT(expand_range("0..3").values, ElementsAre("0", "1", "2", "3"));
}

TEST(ExpandRange, StopsBeforeAnEndThatIsNotHit) {
  EXPECT_THAT(expand_range("1..10:*3").values, ElementsAre("1", "3", "9"));
  EXPECT_THAT(expand_range("1..6:+2").values, ElementsAre("1", "3", "5"));
}

TEST(ExpandRange, FractionalStepsKeepTheLastValue) {
  EXPECT_THAT(expand_range("0.1..0.5:+0.1").values, ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5"));
}

TEST(ExpandRange, AddsTimesWithUnits) {
  EXPECT_THAT(expand_range("100ns..300ns:+100ns").values, ElementsAre("100ns", "200ns", "300ns"));
}

TEST(ExpandRange, OneValueIsARange) {
  EXPECT_THAT(expand_range("7..7").values, ElementsAre("7"));
}

TEST(ExpandRange, SaysWhatIsWrong) {
  EXPECT_THAT(expand_range("8B").problem, HasSubstr("is no range"));
  EXPECT_THAT(expand_range("8..4:+1").problem, HasSubstr("backwards"));
  EXPECT_THAT(expand_range("1..8:*1").problem, HasSubstr("never ends"));
  EXPECT_THAT(expand_range("0..8:*2").problem, HasSubstr("never ends"));
  EXPECT_THAT(expand_range("1..8:+0").problem, HasSubstr("never ends"));
  EXPECT_THAT(expand_range("8B..10ns:*2").problem, HasSubstr("one kind of quantity"));
  EXPECT_THAT(expand_range("8B..64B:+8").problem, HasSubstr("step"));
  EXPECT_THAT(expand_range("0..1000000000").problem, HasSubstr("more than 100000 values"));
  EXPECT_THAT(expand_range("1..2:").problem, HasSubstr("is no range"));
}

TEST(ExpandLinspace, SpacesValuesEvenlyWithBothEnds) {
  EXPECT_THAT(expand_linspace({"0.1", "0.9", "5"}).values,
              ElementsAre("0.1", "0.3", "0.5", "0.7", "0.9"));
  EXPECT_THAT(expand_linspace({"10", "0", "3"}).values, ElementsAre("10", "5", "0"));
}

TEST(ExpandLinspace, SaysWhatIsWrong) {
  EXPECT_THAT(expand_linspace({"0", "1"}).problem, HasSubstr("2 values"));
  EXPECT_THAT(expand_linspace({"0", "1", "1"}).problem, HasSubstr("count 2 to"));
  EXPECT_THAT(expand_linspace({"a", "1", "3"}).problem, HasSubstr("not made of numbers"));
}

}  // namespace
}  // namespace flitwise::axis_values_test
