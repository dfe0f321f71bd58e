// SPDX-License-Identifier: Apache-2.0
// What is told of a run, and when, by a clock that is handed in.
#include "results/run_progress_printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/temporary_folder.h"

namespace flitwise::run_progress_printer_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using Ms = std::chrono::milliseconds;

constexpr const char* kErase = "\r\x1b[K";

class RunProgressPrinting : public ::testing::Test {
 protected:
  ~RunProgressPrinting() override { std::fclose(file_); }
  std::string text() {
    std::fflush(file_);
    return read_file(folder_.file("stderr"));
  }
  /// How often something was told.
  std::size_t times() {
    std::size_t count = 0;
    const std::string all = text();
    for (std::size_t at = 0; (at = all.find("simulated", at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  }
  static RunProgressPrinter::Moment at(int ms) { return RunProgressPrinter::Moment(Ms(ms)); }
  static RunProgress half() { return {500'000, 1'000'000, Time::from_ns(1'240'000)}; }

  TemporaryFolder folder_;
  std::FILE* const file_ = std::fopen(folder_.file("stderr").c_str(), "w");
};

TEST_F(RunProgressPrinting, ATerminalShowsNothingOfAShortRun) {
  RunProgressPrinter printer(file_, true, at(0));
  for (int ms = 0; ms < 2000; ++ms) {
    printer.show(half(), at(ms));
  }
  EXPECT_EQ(text(), "");
  printer.show(half(), at(2000));
  EXPECT_EQ(text(),
            std::string(kErase) + "50 % of 1,000,000 requests, 1.24 ms simulated, 2 s left");
}

TEST_F(RunProgressPrinting, ATerminalIsDrawnOnAtMostFiveTimesASecond) {
  RunProgressPrinter printer(file_, true, at(0));
  for (int ms = 0; ms < 4000; ++ms) {
    printer.show(half(), at(ms));
  }
  EXPECT_EQ(times(), 10U);
  EXPECT_THAT(text(), Not(HasSubstr("\n")));
}

TEST_F(RunProgressPrinting, ATerminalIsCleanAfterwardsAlsoAfterAnError) {
  try {
    RunProgressPrinter printer(file_, true, at(0));
    printer.show(half(), at(3000));
    EXPECT_THAT(text(), EndsWith("1.24 ms simulated"));
    throw std::runtime_error("no progress");
  } catch (const std::runtime_error&) {
    EXPECT_THAT(text(), EndsWith(kErase));
  }
}

TEST_F(RunProgressPrinting, ElsewhereThereIsALineEveryTenSeconds) {
  {
    RunProgressPrinter printer(file_, false, at(0));
    printer.show(half(), at(0));
    printer.show(half(), at(9999));
    EXPECT_EQ(text(), "");
    for (int ms = 10'000; ms < 30'000; ++ms) {
      printer.show(half(), at(ms));
    }
  }
  EXPECT_EQ(text(),
            "50 % of 1,000,000 requests, 1.24 ms simulated, 10 s left\n"
            "50 % of 1,000,000 requests, 1.24 ms simulated, 20 s left\n");
}

TEST_F(RunProgressPrinting, WhatComesUpHasATimeAndNoShare) {
  RunProgressPrinter printer(file_, true, at(0));
  printer.show({0, 0, Time::from_ns(34'200)}, at(5000));
  EXPECT_EQ(text(), std::string(kErase) + "34.2 us simulated");
}

// The time of bring-up says nothing about requests.
TEST_F(RunProgressPrinting, TheTimeLeftGoesByTheTimeOfRequestsAlone) {
  RunProgressPrinter printer(file_, false, at(0));
  printer.show({0, 0, Time{}}, at(1000));
  printer.show({0, 2000, Time{}}, at(15'000));
  printer.show({500, 2000, Time{}}, at(25'000));
  EXPECT_THAT(text(), EndsWith("25 % of 2,000 requests, 0 ns simulated, 30 s left\n"));
}

TEST_F(RunProgressPrinting, TheTimeLeftIsLeftOutUntilItMeansSomething) {
  const auto told = [this](const RunProgress& progress, int begin, int now) {
    const std::size_t before = text().size();
    RunProgressPrinter printer(file_, false, at(-20'000));
    printer.show({0, progress.requests, Time{}}, at(begin));
    const std::size_t begun = text().size();
    printer.show(progress, at(now));
    EXPECT_GE(text().size(), before);
    return text().substr(begun);
  };
  const std::string left = "left";
  EXPECT_THAT(told({999, 1'000'000, Time{}}, 0, 20'000), Not(HasSubstr(left))) << "too few";
  EXPECT_THAT(told({1000, 1'001'000, Time{}}, 0, 20'000), HasSubstr("5.6 h left")) << "many";
  EXPECT_THAT(told({1, 100, Time{}}, 0, 20'000), HasSubstr("33 min left")) << "a hundredth";
  EXPECT_THAT(told({0, 50, Time{}}, 0, 20'000), Not(HasSubstr(left))) << "none";
  EXPECT_THAT(told({50, 50, Time{}}, 0, 20'000), Not(HasSubstr(left))) << "all";
}

TEST_F(RunProgressPrinting, TheTimeLeftWaitsForTwoSecondsOfRequests) {
  RunProgressPrinter printer(file_, true, at(0));
  printer.show({0, 0, Time{}}, at(3000));
  printer.show({2000, 4000, Time{}}, at(3200));  // begins
  printer.show({2000, 4000, Time{}}, at(5199));
  EXPECT_THAT(text(), Not(HasSubstr("left")));
  printer.show({2000, 4000, Time{}}, at(5400));
  EXPECT_THAT(text(), HasSubstr("2 s left"));
}

TEST(RunProgressText, ShareIsRoundedDownAndTheLineFits80Columns) {
  EXPECT_EQ(progress_text({999'999, 1'000'000, Time::from_us(3)}, ""),
            "99 % of 1,000,000 requests, 3 us simulated");
  const std::uint64_t most = 9'999'999'999'999;
  EXPECT_LE(progress_text({most, most, Time::from_ns(987'654'321)}, "9999.9 h left").size(), 79U);
}

}  // namespace
}  // namespace flitwise::run_progress_printer_test
