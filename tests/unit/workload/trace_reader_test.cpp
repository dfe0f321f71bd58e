// SPDX-License-Identifier: Apache-2.0
// Trace replay: exact values, exact places of errors, constant memory.
#include "workload/trace_reader.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "flitwise/error.h"
#include "workload/workload.h"

namespace flitwise::trace_reader_test {
namespace {

class Trace : public testing::Test {
 protected:
  Trace() : path_(testing::TempDir() + "flitwise_trace_" + test_name() + ".csv") {}
  ~Trace() override { std::remove(path_.c_str()); }

  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  void write_lines(const std::string& lines) { write(header() + lines); }
  static std::string header() { return "time_ns,domain,op,address,bytes\n"; }

  /// What is wrong with the trace, without the file name.
  std::string problem(unsigned domains = 4) {
    try {
      TraceReader reader(path_, domains, reach_);
    } catch (const ConfigError& error) {
      std::string text;
      for (const Problem& p : error.problems()) {
        EXPECT_EQ(p.file, path_);
        text += std::to_string(p.line) + ":" + std::to_string(p.column) + ": " + p.message + "\n";
      }
      return text;
    }
    return "accepted";
  }
  std::string problem_of_lines(const std::string& lines) {
    write_lines(lines);
    return problem();
  }

  const std::string path_;
  TraceReach reach_;

 private:
  static std::string test_name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
};

TEST_F(Trace, GivesEveryLineExactly) {
  write_lines(
      "0,0,write,0x100000000,64\n1.5,3,read,4096,1\r\n1.5,1,read, 0xFFFFFFFFFFFFFFFF ,1\n"
      "12.000001,2,write,0,4294967295\n");
  TraceReader reader(path_, 4);
  ASSERT_EQ(reader.records(), 4U);
  WorkItem record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.at, Time{0});
  EXPECT_EQ(record.domain, DomainId{0});
  EXPECT_EQ(record.op, Op::kWrite);
  EXPECT_EQ(record.address, 0x1'0000'0000U);
  EXPECT_EQ(record.bytes, 64U);
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.at, Time::from_ps(1500));
  EXPECT_EQ(record.domain, DomainId{3});
  EXPECT_EQ(record.op, Op::kRead);
  EXPECT_EQ(record.address, 4096U);
  EXPECT_EQ(record.bytes, 1U);
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.address, 0xffff'ffff'ffff'ffffU);
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.at, Time{12'000'001});
  EXPECT_EQ(record.bytes, 4'294'967'295U);
  EXPECT_FALSE(reader.next(record));
}

TEST_F(Trace, BadFieldIsRefusedWithLineAndColumn) {
  EXPECT_EQ(problem_of_lines("0,0,read,0,64\nx,0,read,0,64\n"),
            "3:1: time_ns is 'x'; expected nanoseconds, 0 to 9000000000000, with up to 6 "
            "decimals\n");
  EXPECT_EQ(problem_of_lines("0,4,read,0,64\n"),
            "2:3: domain is '4'; expected 0 to 3 (workload.domains is 4)\n");
  EXPECT_EQ(problem_of_lines("0,0,Read,0,64\n"), "2:5: op is 'Read'; expected read or write\n");
  EXPECT_EQ(problem_of_lines("0,0,write,0x,64\n"),
            "2:11: address is '0x'; expected a byte address, decimal or 0x hexadecimal\n");
  EXPECT_EQ(problem_of_lines("0,0,write,0,0\n"),
            "2:13: bytes is '0'; expected 1 to 4294967295 bytes\n");
  EXPECT_EQ(problem_of_lines("0,0,write,0,64B\n"),
            "2:13: bytes is '64B'; expected 1 to 4294967295 bytes\n");
  EXPECT_EQ(problem_of_lines("0,0,read,0xffffffffffffffff,2\n"),
            "2:29: bytes is '2'; expected an end within the 64-bit address space\n");
}

TEST_F(Trace, AWrongFieldHidesNoneBehindIt) {
  EXPECT_EQ(problem_of_lines("x,4,Read,0x,0,9\n"),
            "2:1: time_ns is 'x'; expected nanoseconds, 0 to 9000000000000, with up to 6 "
            "decimals\n"
            "2:3: domain is '4'; expected 0 to 3 (workload.domains is 4)\n"
            "2:5: op is 'Read'; expected read or write\n"
            "2:10: address is '0x'; expected a byte address, decimal or 0x hexadecimal\n"
            "2:13: bytes is '0'; expected 1 to 4294967295 bytes\n"
            "2:15: a sixth field '9'; expected 'time_ns,domain,op,address,bytes'\n");
  EXPECT_EQ(problem_of_lines("0,4,read\n"),
            "2:3: domain is '4'; expected 0 to 3 (workload.domains is 4)\n"
            "2:9: the line ends before address; expected 'time_ns,domain,op,address,bytes'\n");
  EXPECT_EQ(problem_of_lines("0,4,read,y,64\n"),
            "2:3: domain is '4'; expected 0 to 3 (workload.domains is 4)\n"
            "2:10: address is 'y'; expected a byte address, decimal or 0x hexadecimal\n")
      << "where bytes lie is told of an address alone";
}

TEST_F(Trace, WhatLiesBeyondMemoryIsRefused) {
  Config config;
  config.host.memory.size = 0x10000;
  reach_ = TraceReach::of(config, config.host, false);
  EXPECT_EQ(problem_of_lines("0,0,read,0,65536\n0,0,write,0xffff,1\n"), "accepted");
  EXPECT_EQ(problem_of_lines("0,0,read,0x10000,1\n0,0,write,0xffff,2\n0,0,read,0,65537\n"),
            "2:10: address is '0x10000'; expected an address in host memory, 0x0 to 0xffff "
            "(host.memory.size is 64KiB)\n"
            "3:18: bytes is '2'; expected an end in host memory, 0x0 to 0xffff "
            "(host.memory.size is 64KiB)\n"
            "4:12: bytes is '65537'; expected an end in host memory, 0x0 to 0xffff "
            "(host.memory.size is 64KiB)\n");
}

TEST_F(Trace, BelowASwitchItMayReachBars) {
  const Config config;
  const std::string bars =
      "0,0,read,0x10000000000,64\n0,0,write,0x13ffffffff0,16\n0,0,read,0x3fffffff0,16\n";
  reach_ = TraceReach::of(config, config.host, true);
  EXPECT_EQ(problem_of_lines(bars), "accepted");
  EXPECT_NE(problem_of_lines("0,0,write,0x13ffffffff0,17\n"), "accepted");
  EXPECT_NE(problem_of_lines("0,0,write,0x3fffffff0,17\n"), "accepted");
  EXPECT_NE(problem_of_lines("0,0,write,0xffffffffff,2\n"), "accepted");
  reach_ = TraceReach::of(config, config.host, false);
  EXPECT_NE(problem_of_lines(bars), "accepted");
}

TEST_F(Trace, WhereThereIsAWindowForDmaItStaysInside) {
  Config config;
  config.host.dma_window.base = 0x1000;
  config.host.dma_window.size = 0x1000;
  reach_ = TraceReach::of(config, config.host, false);
  EXPECT_EQ(problem_of_lines("0,0,read,0x1000,4096\n"), "accepted");
  EXPECT_EQ(problem_of_lines("0,0,read,0xfff,1\n"),
            "2:10: address is '0xfff'; expected an address in the window for DMA, 0x1000 to "
            "0x1fff (host.dma_window)\n");
}

TEST_F(Trace, LNK_9_22_WhatTheInterruptWindowDoesNotTakeIsRefused) {
  Config config;
  config.link.identity = Identity::kBdfPasid;
  reach_ = TraceReach::of(config, config.host, false);
  const std::string window =
      "the interrupt window, 0xfee00000 to 0xfeefffff (interrupts are aligned writes of 4 bytes "
      "without PASID and handle)\n";
  EXPECT_EQ(problem_of_lines("0,0,write,0xfedffff0,16\n0,0,read,0xfef00000,64\n"), "accepted");
  EXPECT_EQ(problem_of_lines("0,0,write,0xfee00000,4\n0,0,write,0xfedffff0,17\n"
                             "0,0,read,0xfeefffff,1\n"),
            "2:11: address is '0xfee00000'; expected an address outside of " + window +
                "3:22: bytes is '17'; expected bytes outside of " + window +
                "4:10: address is '0xfeefffff'; expected an address outside of " + window);
  config.link.identity = Identity::kBdf;
  reach_ = TraceReach::of(config, config.host, false);
  EXPECT_EQ(problem_of_lines("0,0,write,0xfee00000,4\n"), "accepted");
  EXPECT_EQ(problem_of_lines("0,0,write,0xfee00000,8\n0,0,write,0xfee00002,4\n"
                             "0,0,read,0xfee00000,4\n"),
            "2:22: bytes is '8'; expected bytes outside of " + window +
                "3:11: address is '0xfee00002'; expected an address outside of " + window +
                "4:10: address is '0xfee00000'; expected an address outside of " + window);
  config.workload.at = At::kTranslated;
  reach_ = TraceReach::of(config, config.host, false);
  EXPECT_NE(problem_of_lines("0,0,write,0xfee00000,4\n"), "accepted");
}

TEST_F(Trace, DHI_D19_TheWindowForTrustedRequestsIsForHandlesThatAskForTrust) {
  Config config;
  config.host.trusted_window.base = 0x1000;
  config.host.trusted_window.size = 0x1000;
  reach_ = TraceReach::of(config, config.host, false);
  EXPECT_EQ(problem_of_lines("0,0,read,0xff0,16\n0,0,read,0x2000,4\n"), "accepted");
  EXPECT_EQ(problem_of_lines("0,0,read,0xff0,17\n0,0,write,0x1ffc,4\n"),
            "2:16: bytes is '17'; expected bytes outside of the window for trusted requests, "
            "0x1000 to 0x1fff (host.trusted_window)\n"
            "3:11: address is '0x1ffc'; expected an address outside of the window for trusted "
            "requests, 0x1000 to 0x1fff (host.trusted_window)\n");
  config.link.identity = Identity::kDhi;
  config.device.dhi.trusted = true;
  reach_ = TraceReach::of(config, config.host, false);
  EXPECT_EQ(problem_of_lines("0,0,write,0x1ffc,4\n"), "accepted");
}

TEST_F(Trace, ByCxlMemItStaysInTheMemoryOfTheDevice) {
  Config config;
  config.workload.via = WorkloadVia::kCxlMem;
  config.device.cxl.memory = 0x10000;
  reach_ = TraceReach::of(config, config.host, false);
  EXPECT_EQ(problem_of_lines("0,0,read,0xffc0,64\n"), "accepted");
  EXPECT_EQ(problem_of_lines("0,0,read,0x10000,64\n"),
            "2:10: address is '0x10000'; expected an address in the memory of the device, 0x0 to "
            "0xffff (device.cxl.memory is 64KiB)\n");
}

TEST_F(Trace, WrongNumberOfFieldsIsRefused) {
  EXPECT_EQ(problem_of_lines("0,0,read\n"),
            "2:9: the line ends before address; expected 'time_ns,domain,op,address,bytes'\n");
  EXPECT_EQ(problem_of_lines("0,0,read,0,64,9\n"),
            "2:15: a sixth field '9'; expected 'time_ns,domain,op,address,bytes'\n");
  EXPECT_EQ(problem_of_lines("0,0,read,0,64\n\n"),
            "3:1: time_ns is ''; expected nanoseconds, 0 to 9000000000000, with up to 6 "
            "decimals\n");
}

TEST_F(Trace, TimesThatCannotBeAreRefused) {
  for (const char* time : {"-1", "1.", ".5", "1.0000001", "1e3", "9000000000001", "1.-5", "0x10"}) {
    EXPECT_NE(problem_of_lines(std::string(time) + ",0,read,0,64\n"), "accepted") << time;
  }
  EXPECT_EQ(problem_of_lines("5,0,read,0,64\n4.5,0,read,0,64\n"),
            "3:1: time_ns is 4.5; expected at least 5, the time of the line before\n");
  EXPECT_EQ(problem_of_lines("5,0,read,0,64\n5,0,read,0,64\n"), "accepted");
}

TEST_F(Trace, AllBadLinesAreToldInOneGoButNotMillions) {
  EXPECT_EQ(problem_of_lines("0,9,read,0,64\n1,0,read,0,64\n2,0,xx,0,64\n"),
            "2:3: domain is '9'; expected 0 to 3 (workload.domains is 4)\n"
            "4:5: op is 'xx'; expected read or write\n");
  std::string rubbish;
  for (int i = 0; i < 10'000; ++i) {
    rubbish += "rubbish\n";
  }
  write_lines(rubbish);
  try {
    TraceReader reader(path_, 4);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    ASSERT_EQ(error.problems().size(), CsvReader::kMostProblems + 1);
    EXPECT_EQ(error.problems().back().text(), path_ + ": and 9950 more");
  }
}

TEST_F(Trace, FileCutOffInItsLastLineIsRefusedEvenIfTheRestLooksWhole) {
  EXPECT_EQ(problem_of_lines("0,0,read,0,64\n5,0,read,0,6"),
            "3:13: the file ends in the middle of a line; expected a line end (is it cut off?)\n");
  EXPECT_EQ(problem_of_lines("0,0,read,0,64\n5,0,re"),
            "3:7: the file ends in the middle of a line; expected a line end (is it cut off?)\n");
}

TEST_F(Trace, EmptyTraceAndWrongHeaderAreRefused) {
  write("");
  EXPECT_EQ(problem(),
            "1:1: the file is empty; expected the header 'time_ns,domain,op,address,bytes'\n");
  EXPECT_EQ(problem_of_lines(""),
            "2:1: the trace has no line after its header; expected at least one\n");
  write("time,domain,op,address,bytes\n0,0,read,0,64\n");
  EXPECT_EQ(problem(),
            "1:1: the first line is 'time,domain,op,address,bytes'; expected "
            "'time_ns,domain,op,address,bytes'\n");
}

TEST_F(Trace, OverlongLineIsRefusedWithoutReadingOn) {
  EXPECT_EQ(problem_of_lines("0,0,read,0,64\n" + std::string(5'000'000, '0') + "\n"),
            "3:1: the line is longer than 1024 characters; expected "
            "'time_ns,domain,op,address,bytes'\n");
  write(std::string(5'000'000, 't') + "\n0,0,read,0,64\n");
  EXPECT_EQ(problem(),
            "1:1: the first line is longer than 1024 characters; expected "
            "'time_ns,domain,op,address,bytes'\n");
}

TEST_F(Trace, MissingFileAndDirectoryAreRefused) {
  EXPECT_EQ(problem(), "0:0: does not exist; expected a CSV file\n");
  EXPECT_THROW(TraceReader(testing::TempDir(), 4), ConfigError);
  EXPECT_THROW(TraceReader("", 4), ConfigError);
}

TEST_F(Trace, LinesThatStraddleTheReadBufferAreRight) {
  std::string lines;
  for (int i = 0; i < 20'000; ++i) {
    lines += std::to_string(i) + "," + std::to_string(i % 4) + ",write," +
             std::to_string(std::uint64_t{1} << (i % 40)) + "," + std::to_string(i + 1) + "\n";
  }
  write_lines(lines);
  TraceReader reader(path_, 4);
  ASSERT_EQ(reader.records(), 20'000U);
  WorkItem record;
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(reader.next(record));
    ASSERT_EQ(record.at, Time::from_ns(i));
    ASSERT_EQ(record.address, std::uint64_t{1} << (i % 40));
    ASSERT_EQ(record.bytes, static_cast<unsigned>(i + 1));
  }
  EXPECT_FALSE(reader.next(record));
}

TEST_F(Trace, FileThatChangesAfterItsCheckIsNoticed) {
  std::string lines;
  for (int i = 0; i < 50'000; ++i) {
    lines += "0,0,read,0,64\n";
  }
  write_lines(lines);
  TraceReader reader(path_, 4);
  write_lines("0,0,read,0,64\n");
  const auto replay = [&reader] {
    WorkItem record;
    while (reader.next(record)) {
    }
  };
  EXPECT_THROW(replay(), ConfigError);
}

TEST_F(Trace, IsReplayedAsAWorkload) {
  WorkloadConfig config;
  config.kind = WorkloadKind::kTrace;
  config.domains = 4;
  config.trace = std::string(FLITWISE_SOURCE_DIR) + "/configs/data/example_trace.csv";
  const auto workload = Workload::make(config, DeviceConfig{}, 1);
  std::vector<WorkItem> items;
  WorkItem item;
  while (workload->next(item)) {
    items.push_back(item);
  }
  ASSERT_EQ(items.size(), 10U);
  EXPECT_EQ(items[2].at, Time::from_ps(10'500));
  EXPECT_EQ(items[2].op, Op::kRead);
  EXPECT_EQ(items[2].bytes, 512U);
  EXPECT_EQ(items[9].domain, DomainId{3});
  EXPECT_TRUE(items[9].ends_message);
}

TEST_F(Trace, WarmupLongerThanTheTraceIsRefused) {
  WorkloadConfig config;
  config.kind = WorkloadKind::kTrace;
  config.trace = path_;
  write_lines("0,0,read,0,64\n1,0,read,0,64\n");
  EXPECT_NO_THROW(Workload::make(config, DeviceConfig{}, 1, 1));
  EXPECT_THROW(Workload::make(config, DeviceConfig{}, 1, 2), ConfigError);
}

}  // namespace
}  // namespace flitwise::trace_reader_test
