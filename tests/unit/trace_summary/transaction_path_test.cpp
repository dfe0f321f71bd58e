// SPDX-License-Identifier: Apache-2.0
// Steps are without gaps and add up to the latency, whatever of the way the trace has.
#include "trace_summary/transaction_path.h"

#include <gtest/gtest.h>

#include <random>

#include "common/ranges.h"

namespace flitwise::transaction_path_test {
namespace {

Send send(std::size_t wire, std::int64_t first, std::int64_t last, std::uint64_t uid = 1) {
  Send one;
  one.wire = wire;
  one.uid = uid;
  one.first = first;
  one.last = last;
  return one;
}

/// A read over two wires and back over two others.
Transaction read() {
  Transaction one;
  one.stamps = {100, 110, 130, 150, 260, 270, 400, 600};
  one.done = 600;
  one.sends = {send(0, 150, 160), send(1, 200, 220)};
  one.answers = {send(2, 430, 440, 7), send(2, 450, 460, 8), send(3, 480, 490, 7),
                 send(3, 520, 560, 8)};
  return one;
}

std::string texts(const std::vector<PathStep>& steps) {
  return sum_of(steps, [](const PathStep& step) {
    const std::string wire = step.wire == WireBook::kNone ? "" : "@" + std::to_string(step.wire);
    return std::string(name_of(step.cause)) + wire + " " + std::to_string(step.took()) + "; ";
  });
}

void expect_whole(const Transaction& one) {
  std::int64_t at = *one.stamped(Hop::kIssue);
  for (const PathStep& step : steps_of(one)) {
    EXPECT_EQ(step.from, at);
    EXPECT_GT(step.until, step.from);
    EXPECT_NE(step.cause, Cause::kBusy);
    at = step.until;
  }
  EXPECT_EQ(at, *one.done);
}

TEST(TransactionPath, AReadGoesWireByWireAndComesBackWithItsLastCompletion) {
  EXPECT_EQ(texts(steps_of(read())),
            "handle 10; admission 20; queue@0 20; wire@0 10; switch@1 40; wire@1 20; receiver 40; "
            "root_port 10; memory 130; answer@2 50; wire@2 10; switch@3 60; wire@3 40; "
            "receiver 40; ");
  expect_whole(read());
}

TEST(TransactionPath, WhatIsSentAgainCountsFromItsFirstAttemptAndACopyThatComesLaterDoesNot) {
  Transaction one = read();
  one.answers.clear();
  one.sends = {send(0, 150, 155), send(0, 170, 175), send(0, 240, 245), send(1, 200, 220),
               send(1, 300, 320)};
  EXPECT_EQ(texts(steps_of(one)),
            "handle 10; admission 20; queue@0 20; again@0 20; wire@0 5; switch@1 25; wire@1 20; "
            "receiver 40; root_port 10; memory 130; answer 200; ");
  expect_whole(one);
}

TEST(TransactionPath, WithoutUnitsTheLinkIsOneStep) {
  Transaction one = read();
  one.sends.clear();
  one.answers.clear();
  EXPECT_EQ(texts(steps_of(one)),
            "handle 10; admission 20; queue 20; link 110; root_port 10; memory 130; answer 200; ");
  expect_whole(one);
}

TEST(TransactionPath, InFlitsSymbolsOfEarlierFlitsAreOnTheWireToo) {
  Transaction one = read();
  one.answers.clear();
  one.sends = {send(0, 158, 174)};
  EXPECT_EQ(texts(steps_of(one)),
            "handle 10; admission 20; queue@0 20; wire@0 8; wire@0 16; receiver 86; root_port 10; "
            "memory 130; answer 200; ");
  expect_whole(one);
}

TEST(TransactionPath, AWriteEndsInMemory) {
  Transaction one = read();
  one.answers.clear();
  one.stamps[static_cast<std::size_t>(Hop::kCompleted)].reset();
  one.done = 400;
  EXPECT_EQ(steps_of(one).back().cause, Cause::kMemory);
  expect_whole(one);
}

TEST(TransactionPath, WithoutAnEndThereAreNoSteps) {
  Transaction one = read();
  one.done.reset();
  EXPECT_EQ(one.latency(), std::nullopt);
  EXPECT_TRUE(steps_of(one).empty());
}

TEST(TransactionPath, StepsAddUpWhateverTheTraceHas) {
  std::mt19937 random(1);
  const auto below = [&random](int n) { return static_cast<int>(random() % unsigned(n)); };
  for (int round = 0; round < 2000; ++round) {
    Transaction one;
    one.stamps[0] = below(50);
    for (std::size_t hop = 1; hop < kHops; ++hop) {
      if (below(3) != 0) {
        one.stamps[hop] = below(1000);
      }
    }
    one.done = 50 + below(1000);
    for (int i = below(6); i > 0; --i) {
      const int first = below(1000);
      one.sends.push_back(send(static_cast<std::size_t>(below(3)), first, first + below(40)));
      one.answers.push_back(send(static_cast<std::size_t>(below(3)), first + below(90),
                                 first + below(200), unsigned(below(3))));
    }
    expect_whole(one);
    ASSERT_FALSE(HasFailure()) << round;
  }
}

}  // namespace
}  // namespace flitwise::transaction_path_test
