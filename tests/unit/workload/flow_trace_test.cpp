// SPDX-License-Identifier: Apache-2.0
// Flows from a file, and the places of what is wrong in it.
#include "workload/flow_trace.h"

#include <gtest/gtest.h>

#include <fstream>

#include "flitwise/error.h"

namespace flitwise::flow_trace_test {
namespace {

class FlowTraceFile : public testing::Test {
 protected:
  std::unique_ptr<FlowSource> read(const std::string& lines) {
    std::ofstream(path_) << "time_ns,src,dst,bytes\n" << lines;
    return trace_flows(path_, 4);
  }
  std::string problem(const std::string& lines) {
    try {
      read(lines);
    } catch (const ConfigError& error) {
      std::string text;
      for (const Problem& one : error.problems()) {
        text +=
            std::to_string(one.line) + ":" + std::to_string(one.column) + ": " + one.message + "\n";
      }
      return text;
    }
    return "accepted";
  }
  const std::string path_ = testing::TempDir() + "flitwise_flow_trace_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
  void TearDown() override { std::remove(path_.c_str()); }
};

TEST_F(FlowTraceFile, GivesEveryLineExactly) {
  const auto source = read("0,0,3,20000000\n1.5,1,2,1\n1.5,2,0,0x100\n");
  EXPECT_EQ(source->left(), 3U);
  Flow flow;
  ASSERT_TRUE(source->next(flow));
  EXPECT_EQ(flow.destination, 3U);
  EXPECT_EQ(flow.bytes, 20'000'000U);
  ASSERT_TRUE(source->next(flow));
  EXPECT_EQ(flow.start, Time::from_ps(1500));
  ASSERT_TRUE(source->next(flow));
  EXPECT_EQ(flow.id, 2U);
  EXPECT_EQ(flow.source, 2U);
  EXPECT_EQ(flow.bytes, 256U);
  EXPECT_EQ(flow.after, kNoFlow);
  EXPECT_FALSE(source->next(flow));
}

TEST_F(FlowTraceFile, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(problem("5,4,1,10\n4,1,1,0\n"),
            "2:3: src is '4'; expected a host, 0 to 3\n"
            "3:5: dst is '1'; expected another host than src\n"
            "3:7: bytes is '0'; expected 1 to 2147483392 bytes\n"
            "3:1: time_ns is 4; expected at least 5, the time of the line before\n");
  EXPECT_EQ(problem("5,1,2\n"),
            "2:6: the line ends before bytes; expected 'time_ns,src,dst,bytes'\n");
  EXPECT_NE(problem("5,1,2,3,4\n"), "accepted");
  EXPECT_NE(problem("5,1,2,3"), "accepted");
  EXPECT_NE(problem(""), "accepted");
  EXPECT_EQ(problem("-1,1,2,3\n"),
            "2:1: time_ns is '-1'; expected nanoseconds, 0 to 9000000000000, with up to 6 "
            "decimals\n");
}

// 4 GiB and 5 bytes would leave 5 of 32 bits.
TEST_F(FlowTraceFile, PS_3_AFlowIsNoLongerThanAWriteMayBe) {
  EXPECT_EQ(problem("0,1,2,2147483392\n"), "accepted");
  EXPECT_EQ(problem("0,1,2,2147483393\n0,1,2,4294967301\n"),
            "2:7: bytes is '2147483393'; expected 1 to 2147483392 bytes\n"
            "3:7: bytes is '4294967301'; expected 1 to 2147483392 bytes\n");
}

TEST_F(FlowTraceFile, AFileThatIsNotThereIsSaid) {
  EXPECT_THROW(trace_flows(path_ + ".none", 4), ConfigError);
  EXPECT_THROW(trace_flows(testing::TempDir(), 4), ConfigError);
}

}  // namespace
}  // namespace flitwise::flow_trace_test
