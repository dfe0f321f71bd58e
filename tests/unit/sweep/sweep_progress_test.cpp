// SPDX-License-Identifier: Apache-2.0
// How far a sweep is, in words and as JSON.
#include "sweep/sweep_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flitwise::sweep_progress_test {
namespace {

using ::testing::HasSubstr;

TEST(SweepProgressText, ShowsCountsFailuresAndTimeLeft) {
  SweepProgress progress{10, 2, 6, 1};
  const std::string text = progress_text(progress, 8.0, true);
  EXPECT_THAT(text, HasSubstr("[##################            ]"));
  EXPECT_THAT(text, HasSubstr("6/10 points, 60 %, 2 had a result, 1 failed, 8 s left"));
  EXPECT_THAT(progress_text({0, 0, 0, 0}, 0, false), HasSubstr("0/0"));
}

TEST(SweepProgressText, IsALineOfJsonForPrograms) {
  EXPECT_EQ(progress_json({10, 2, 6, 1}, 8.0),
            R"({"event":"progress","total":10,"done":6,"cached":2,"failed":1,)"
            R"("elapsed_s":8.0,"left_s":8.0})");
  EXPECT_THAT(progress_json({10, 2, 2, 0}, 0.1), HasSubstr("\"left_s\":null")) << "nothing ran yet";
}

}  // namespace
}  // namespace flitwise::sweep_progress_test
