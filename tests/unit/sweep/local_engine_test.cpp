// SPDX-License-Identifier: Apache-2.0
// The process pool, with a shell script in the place of the simulator.
#include "sweep/local_engine.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/atomic_file.h"
#include "support/temporary_folder.h"
#include "sweep/point_lock.h"

namespace flitwise::local_engine_test {
namespace {

class LocalEngine : public ::testing::Test {
 protected:
  /// A program that is called as `P sweep point --manifest M --index I --out DIR`.
  void program(const std::string& body) {
    options_.program = folder_.file("program");
    std::ofstream(options_.program) << "#!/bin/sh\nindex=$6\nout=$8\necho run $index >> " +
                                           folder_.file("calls") + "\n" + body + "\n";
    std::filesystem::permissions(options_.program, std::filesystem::perms::owner_all);
  }
  /// Shell text that writes the result of the point, whose id is "id<index>".
  static std::string writes_result() {
    return R"(printf '{"point": {"id": "id%s"}, "flitwise": {"simulated_ns": 1, "host_seconds": 1},
"links": [{"up": {}, "down": {}}], "latency": [], "dhi": [], "errors": [], "checks": []}' \
$index > $out/points/id$index.json)";
  }

  Plan plan(std::size_t points) const {
    Plan list;
    for (std::size_t i = 0; i < points; ++i) {
      Point point;
      point.index = i;
      point.id = "id" + std::to_string(i);
      list.push_back(point);
    }
    return list;
  }

  SweepOutcome run(const Plan& points) {
    options_.folder = folder_.file("out");
    return run_local(points, options_, [this](const SweepProgress& p) { seen_.push_back(p); });
  }
  long calls() const {
    if (!std::filesystem::exists(folder_.file("calls"))) {
      return 0;
    }
    const std::string text = read_file(folder_.file("calls"));
    return std::count(text.begin(), text.end(), '\n');
  }

  TemporaryFolder folder_;
  LocalOptions options_;
  std::vector<SweepProgress> seen_;
};

TEST_F(LocalEngine, RunsEveryPointOnce) {
  program(writes_result());
  options_.jobs = 3;
  const SweepOutcome outcome = run(plan(7));
  EXPECT_EQ(outcome.progress.done, 7U);
  EXPECT_EQ(outcome.progress.failed, 0U);
  EXPECT_EQ(calls(), 7);
  EXPECT_EQ(seen_.size(), 8U) << "once at the start and once a point";
}

TEST_F(LocalEngine, NeverRunsAPointTwice) {
  program(writes_result());
  run(plan(3));
  const SweepOutcome again = run(plan(5));
  EXPECT_EQ(again.progress.cached, 3U);
  EXPECT_EQ(calls(), 5);
}

TEST_F(LocalEngine, PointsWithTheSameIdShareOneRun) {
  program(writes_result());
  Plan points = plan(2);
  points.push_back(points[0]);
  const SweepOutcome outcome = run(points);
  EXPECT_EQ(outcome.progress.total, 2U);
  EXPECT_EQ(calls(), 2);
}

TEST_F(LocalEngine, AFailureIsTriedAgainAndThenReported) {
  program("echo why >&2; exit 3");
  options_.retries = 2;
  const SweepOutcome outcome = run(plan(1));
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(calls(), 3);
  const std::string once = "why\nflitwise: ended with exit code 3\n";
  EXPECT_EQ(read_file(log_path(folder_.file("out"), outcome.failed[0])), once + once + once);
}

TEST_F(LocalEngine, TheLogNamesTheSignalThatEndedAPoint) {
  program("kill -9 $$");
  options_.retries = 0;
  const SweepOutcome outcome = run(plan(1));
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(read_file(log_path(folder_.file("out"), outcome.failed[0])),
            "flitwise: ended by signal 9\n");
}

TEST_F(LocalEngine, ASecondAttemptMayHeal) {
  program("[ -e $out/tried ] || { touch $out/tried; kill -9 $$; }\n" + writes_result());
  const SweepOutcome outcome = run(plan(1));
  EXPECT_EQ(outcome.progress.failed, 0U);
  EXPECT_EQ(calls(), 2);
}

TEST_F(LocalEngine, SuccessWithoutAResultIsAFailure) {
  program("exit 0");
  options_.retries = 0;
  EXPECT_EQ(run(plan(1)).progress.failed, 1U);
}

TEST_F(LocalEngine, InterruptKeepsFinishedResultsAndStartsNothingMore) {
  // The second point interrupts its parent and then waits to be ended.
  program("if [ $index = 1 ]; then kill -INT $PPID; exec sleep 60; fi\n" + writes_result());
  const auto ends = [this] { _exit(run(plan(5)).is_interrupted ? 0 : 1); };
  EXPECT_EXIT(ends(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(calls(), 2);
  EXPECT_TRUE(has_result(folder_.file("out"), plan(1)[0]));
}

TEST_F(LocalEngine, AMissingProgramIsSaidPlainly) {
  options_.program = folder_.file("nothing");
  EXPECT_THROW(run(plan(1)), std::system_error);
}

TEST_F(LocalEngine, AnAttemptEndsAtItsTimeLimit) {
  program("[ -e $out/tried ] || { touch $out/tried; exec sleep 60; }\n" + writes_result());
  options_.timeout_seconds = 0.3;
  EXPECT_EQ(run(plan(1)).progress.failed, 0U) << "the second one is quick";
  EXPECT_EQ(read_file(log_path(folder_.file("out"), plan(1)[0])),
            "flitwise: ended at its time limit of 0.3 s\n");
}

TEST_F(LocalEngine, ALogKeepsWhatEarlierRunsSaid) {
  program("echo why; exit 3");
  options_.retries = 0;
  run(plan(1));
  program("echo again\n" + writes_result());
  run(plan(1));
  EXPECT_EQ(read_file(log_path(folder_.file("out"), plan(1)[0])),
            "why\nflitwise: ended with exit code 3\nagain\n");
}

TEST_F(LocalEngine, APointIsOneProcessAtATimeWhoeverStartsIt) {
  const std::string log = folder_.file("log");
  EXPECT_FALSE(PointLock::is_held(log)) << "there is none";
  {
    const PointLock lock(log);
    EXPECT_TRUE(PointLock::is_held(log));
  }
  EXPECT_FALSE(PointLock::is_held(log));
  EXPECT_THROW(PointLock(folder_.file("nowhere/log")), OutputError);
}

}  // namespace
}  // namespace flitwise::local_engine_test
