// SPDX-License-Identifier: Apache-2.0
// What Slurm is told, and what is read from its answers. The engine itself:
// tests/cli/slurm_test.sh.
#include "sweep/slurm_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flitwise::slurm_engine_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(SlurmTaskList, WritesRunsAsRanges) {
  EXPECT_EQ(task_list({0, 1, 2, 3, 7, 9, 10}), "0-3,7,9-10");
  EXPECT_EQ(task_list({5}), "5");
}

TEST(SlurmArrays, HaveNumbersBelowWhatSlurmTakes) {
  EXPECT_THAT(split_into_arrays({0, 4, 5, 9, 21}, 5),
              ElementsAre(Pair(0, ElementsAre(0, 4)), Pair(5, ElementsAre(0, 4)),
                          Pair(20, ElementsAre(1))));
}

TEST(SlurmArrays, KnowTheLimitOfTheirController) {
  EXPECT_EQ(
      max_array_size("MailProg = /bin/mail\nMaxArraySize            = 100001\nMaxDBDMsgs = 1\n"),
      100001U);
  EXPECT_EQ(max_array_size("nothing"), 1001U) << "the default of Slurm";
}

TEST(SlurmQueueLines, TellThePointsOfThisSweepAlone) {
  const SlurmQueue queue = queue_from(
      "flitwise-0a-4-1000|2|17\n"
      "flitwise-0b-1-0|3|18\n"
      "flitwise-0a-4-0|0|16\n"
      "flitwise-0a-4-0|N/A|16\n"
      "slurm_load_jobs error\n",
      "flitwise-0a-");
  EXPECT_THAT(queue.tasks, ElementsAre(Pair(0, 4), Pair(4008, 4012)));
  EXPECT_THAT(queue.jobs, ElementsAre("16", "17"));
  for (const std::size_t point : {0, 3, 4008, 4011}) {
    EXPECT_TRUE(queue.has(point)) << point;
  }
  for (const std::size_t point : {4, 4007, 4012}) {
    EXPECT_FALSE(queue.has(point)) << point;
  }
}

TEST(SlurmTasks, CoverEveryPointOnce) {
  EXPECT_EQ(task_count(10, 4), 3U);
  EXPECT_EQ(points_of_task(2, 10, 4), std::make_pair(std::size_t{8}, std::size_t{10}));
  EXPECT_EQ(points_of_task(3, 10, 4).first, 10U) << "there is none";
}

}  // namespace
}  // namespace flitwise::slurm_engine_test
