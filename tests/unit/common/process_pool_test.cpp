// SPDX-License-Identifier: Apache-2.0
// Child processes, one and many.
#include "common/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "common/interrupt.h"

namespace flitwise::process_pool_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ExitedWithCode;
using Order = ProcessPool::Order;
using Clock = std::chrono::steady_clock;

ChildOutput shell(const std::string& script, const std::string* input = nullptr,
                  bool tells_stderr = false) {
  return run_child({{"/bin/sh", "-c", script}, input, tells_stderr});
}

TEST(ChildProcess, TellsWhatItPrintedAndHowItEnded) {
  const ChildOutput output = shell("printf one; exit 7");
  EXPECT_EQ(output.text, "one");
  EXPECT_EQ(output.exit_code, 7);
  EXPECT_EQ(shell("kill -SEGV $$").exit_code, 128 + SIGSEGV);
}

TEST(ChildProcess, ReadsItsInputWhichMayBeEmpty) {
  const std::string text(100'000, 'x');
  const ChildOutput output = shell("cat", &text);
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_TRUE(output.text == text) << output.text.size() << " bytes";
  const std::string nothing;
  EXPECT_EQ(shell("cat; echo end", &nothing).text, "end\n");
}

TEST(ChildProcess, StderrIsReadWhereItIsAskedFor) {
  EXPECT_EQ(shell("echo a; echo b >&2; echo c", nullptr, true).text, "a\nb\nc\n");
  EXPECT_EQ(shell("echo a; echo b 2>&1 >/dev/null", nullptr, false).text, "a\n");
}

TEST(ChildProcess, AMissingProgramIsAnError) {
  EXPECT_THROW(run_child({{"/nowhere/program"}}), std::system_error);
}

// The first signal asks the child to end; one that goes on is killed after 2 s.
TEST(ChildProcess, AnInterruptEndsTheChild) {
  const auto ended_by = [](const std::string& script) {
    watch_for_interrupt();
    const int code = shell(script).exit_code;
    _exit(code);
  };
  EXPECT_EXIT(ended_by("kill -INT $PPID; exec sleep 60"), ExitedWithCode(128 + SIGTERM), "");
  EXPECT_EXIT(ended_by("trap '' TERM; kill -INT $PPID; while :; do sleep 0.1; done"),
              ExitedWithCode(128 + SIGKILL), "");
}

TEST(ProcessPool, TellsInTheOrderOfNumbersWhicheverEndsFirst) {
  std::vector<std::uint64_t> told;
  ProcessPool(4, 4).run(
      [](std::uint64_t i) { return shell(i == 0 ? "sleep 0.2" : "true").exit_code == 0; },
      Order::kByNumber, [&](std::uint64_t i) { told.push_back(i); });
  EXPECT_THAT(told, ElementsAre(0, 1, 2, 3));
}

TEST(ProcessPool, TellsAsTasksEndWhereTheOrderDoesNotMatter) {
  std::vector<std::uint64_t> told;
  ProcessPool(2, 2).run(
      [](std::uint64_t i) { return shell(i == 0 ? "sleep 0.3" : "true").exit_code == 0; },
      Order::kAsTheyEnd, [&](std::uint64_t i) { told.push_back(i); });
  EXPECT_THAT(told, ElementsAre(1, 0));
}

TEST(ProcessPool, BeginsInOrderAndNeverMoreThanItsJobs) {
  std::atomic<int> at_work{0}, most{0};
  std::atomic<std::uint64_t> told{0};
  ProcessPool(12, 3).run(
      [&](std::uint64_t) {
        const int now = ++at_work;
        most = std::max(most.load(), now);
        shell("sleep 0.02");
        --at_work;
        return true;
      },
      Order::kAsTheyEnd, [&](std::uint64_t) { ++told; });
  EXPECT_EQ(told, 12U);
  EXPECT_LE(most, 3);
  std::vector<std::uint64_t> begun;
  ProcessPool(5, 1).run(
      [&](std::uint64_t i) {
        begun.push_back(i);
        return true;
      },
      Order::kAsTheyEnd, [](std::uint64_t) {});
  EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3, 4));
}

TEST(ProcessPool, ACrashOfOneChildLeavesTheOthersAlone) {
  std::vector<int> codes(3);
  ProcessPool(3, 2).run(
      [&](std::uint64_t i) {
        codes[i] = shell(i == 1 ? "kill -ABRT $$" : "true").exit_code;
        return true;
      },
      Order::kByNumber, [](std::uint64_t) {});
  EXPECT_THAT(codes, ElementsAre(0, 128 + SIGABRT, 0));
}

TEST(ProcessPool, WhatATaskOrItsTellerThrowsEndsTheWork) {
  std::atomic<int> begun{0};
  const auto fails_at_2 = [&](std::uint64_t i) -> bool {
    ++begun;
    if (i == 2) {
      throw std::runtime_error("no process");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // long enough to hear of it
    return true;
  };
  EXPECT_THROW(ProcessPool(1000, 2).run(fails_at_2, Order::kByNumber, [](std::uint64_t) {}),
               std::runtime_error);
  EXPECT_LT(begun, 1000);
  const auto works = [](std::uint64_t) { return shell("sleep 0.01").exit_code == 0; };
  const auto start = Clock::now();
  EXPECT_THROW(ProcessPool(1000, 2).run(works, Order::kByNumber,
                                        [](std::uint64_t) { throw std::logic_error("full"); }),
               std::logic_error);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
}

TEST(ProcessPool, AfterAnInterruptNothingBeginsAndWhatItCutShortIsNotTold) {
  const auto interrupted = [] {
    watch_for_interrupt();
    std::vector<std::uint64_t> told;
    int begun = 0;
    ProcessPool(5, 1).run(
        [&](std::uint64_t i) {
          ++begun;
          shell(i == 1 ? "kill -INT $PPID; exec sleep 60" : "true");
          return !is_interrupted();
        },
        Order::kByNumber, [&](std::uint64_t i) { told.push_back(i); });
    _exit(begun == 2 && told == std::vector<std::uint64_t>{0} ? 0 : 1);
  };
  EXPECT_EXIT(interrupted(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace flitwise::process_pool_test
