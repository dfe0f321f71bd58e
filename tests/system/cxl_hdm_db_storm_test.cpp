// SPDX-License-Identifier: Apache-2.0
// The host's cores and the core of a device storm the same lines of the device's memory over a
// link: what each reads is held against what both have written.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "system/machine_bench.h"

namespace flitwise {
namespace {

constexpr std::size_t kCores = 2, kLines = 64;
constexpr std::uint64_t kBase = 64U << 10;
/// One line in four is written whole, by either core; of the others each core counts up a word of
/// its own.
bool is_written_whole(std::uint64_t line) {
  return line % 4 == 3;
}

/// The writes of one line that is written whole: when each began and was done, on one count of all
/// that happens.
struct Versions {
  struct Write {
    std::uint64_t begun = 0;
    std::uint64_t done = 0;  // 0: not yet
  };
  std::vector<Write> writes{1};   // by what they write; the first is what memory has at first
  std::uint64_t newest_done = 0;  // the last begin among those that are done
};

struct Book {
  using Counts = std::array<std::array<std::uint64_t, kLines>, kCores>;
  Counts begun{}, done{};  // by writer and line
  std::array<Versions, kLines> whole;
  std::uint64_t events = 0;
  std::uint64_t stale_reads = 0, early_reads = 0, torn_reads = 0;
};

class StormCore final : public Engine {
 public:
  StormCore(Book& book, std::size_t self, std::uint64_t operations, std::uint64_t seed)
      : book_(book), self_(self), left_(operations), random_(seed), operations_(kOut) {
    for (std::uint32_t token = 0; token < kOut; ++token) {
      free_.push_back(token);
    }
  }

  bool next(Time now, Transfer& transfer) override {
    if (left_ == 0 || free_.empty()) {
      return false;
    }
    --left_;
    Operation& operation = operations_[free_.back()];
    transfer = Transfer();
    transfer.token = free_.back();
    free_.pop_back();
    transfer.issue = now;
    operation.line = random_.below(kLines);
    transfer.address = kBase + operation.line * kCxlLineBytes;
    if (random_.below(2) == 0) {
      transfer.op = Op::kRead;
      transfer.bytes = kCxlLineBytes;
      for (std::size_t writer = 0; writer < kCores; ++writer) {
        operation.at_least[writer] = book_.done[writer][operation.line];
      }
      operation.newest_done = book_.whole[operation.line].newest_done;
    } else if (is_written_whole(operation.line)) {
      std::vector<Versions::Write>& writes = book_.whole[operation.line].writes;
      operation.value = writes.size();
      operation.words.fill(operation.value);
      writes.push_back({++book_.events, 0});
      transfer.op = Op::kWrite;
      transfer.bytes = kCxlLineBytes;
      transfer.data = reinterpret_cast<const std::uint8_t*>(operation.words.data());
    } else {
      transfer.op = Op::kWrite;
      transfer.bytes = sizeof operation.value;
      transfer.address += self_ * sizeof operation.value;
      operation.value = ++book_.begun[self_][operation.line];
      transfer.data = reinterpret_cast<const std::uint8_t*>(&operation.value);
    }
    return true;
  }
  void data(std::uint32_t token, std::uint64_t, const std::uint8_t* bytes, std::size_t) override {
    const Operation& operation = operations_[token];
    if (is_written_whole(operation.line)) {
      std::array<std::uint64_t, 8> words{};
      std::memcpy(words.data(), bytes, sizeof words);
      for (const std::uint64_t word : words) {
        book_.torn_reads += word != words[0] ? 1 : 0;
      }
      const Versions& versions = book_.whole[operation.line];
      if (words[0] >= versions.writes.size()) {
        ++book_.early_reads;
        return;
      }
      // Overwritten before the read began, by a write that began after this one was done.
      const std::uint64_t done = versions.writes[words[0]].done;
      const bool is_first = words[0] == 0;
      book_.stale_reads +=
          (is_first ? operation.newest_done > 0 : done > 0 && done < operation.newest_done) ? 1 : 0;
      return;
    }
    for (std::size_t writer = 0; writer < kCores; ++writer) {
      std::uint64_t seen = 0;
      std::memcpy(&seen, bytes + writer * sizeof seen, sizeof seen);
      book_.stale_reads += seen < operation.at_least[writer] ? 1 : 0;
      book_.early_reads += seen > book_.begun[writer][operation.line] ? 1 : 0;
    }
  }
  void finished(const TransferEnd& end) override {
    failed += end.status == TransferStatus::kDone ? 0 : 1;
    const Operation& operation = operations_[end.token];
    if (end.op == Op::kWrite && is_written_whole(operation.line)) {
      Versions& versions = book_.whole[operation.line];
      Versions::Write& write = versions.writes[operation.value];
      write.done = ++book_.events;
      versions.newest_done = std::max(versions.newest_done, write.begun);
    } else if (end.op == Op::kWrite) {
      std::uint64_t& done = book_.done[self_][operation.line];
      done = std::max(done, operation.value);
    }
    free_.push_back(end.token);
  }
  Time next_at() const override { return Time::never(); }
  bool is_done() const override { return left_ == 0 && free_.size() == kOut; }
  std::string waiting() const override { return ""; }

  std::uint64_t failed = 0;

 private:
  static constexpr std::uint32_t kOut = 8;
  struct Operation {
    std::uint64_t line = 0, value = 0, newest_done = 0;
    std::array<std::uint64_t, 8> words{};  // of a write of all
    std::array<std::uint64_t, kCores> at_least{};
  };
  Book& book_;
  std::size_t self_;
  std::uint64_t left_;
  Random random_;
  std::vector<Operation> operations_;  // by token
  std::vector<std::uint32_t> free_;
};

struct Storm {
  CxlCacheRead read = CxlCacheRead::kShared;
  double error_rate = 0;
  std::uint64_t operations = 20'000;  // of each core
  std::uint32_t credits = 256;
  bool latency_optimised = false;
  std::uint32_t snoops = 16, outstanding = 64;  // BITags, Tags
  std::uint32_t ways = 4;
};

Config config_of(const Storm& storm) {
  Config config;
  config.link.preset = {"x16", 6, 16, CxlFlits::k256};
  config.link.cxl.latency_optimised = storm.latency_optimised;
  config.link.error_rate = storm.error_rate;
  config.link.cxl.req_credits = config.link.cxl.rsp_credits = config.link.cxl.data_credits =
      storm.credits;
  config.device.cxl.memory = Bytes{1} << 20;
  config.device.cxl.coherence = CxlCoherence::kHdmDb;
  config.device.cxl.own_cache.size = Bytes{2} << 10;  // half of the lines
  config.device.cxl.own_cache.ways = storm.ways;
  config.device.cxl.own_cache.snoops = storm.snoops;
  config.host.cxl_mem.cache.size = Bytes{2} << 10;
  config.host.cxl_mem.cache.ways = storm.ways;
  config.host.cxl_mem.outstanding = storm.outstanding;
  config.host.cxl_mem.read = storm.read;
  config.workload.via = WorkloadVia::kCxlBoth;
  config.workload.buffer_base = kBase;
  return config;
}

void rage(const Storm& storm) {
  MachineBench bench(config_of(storm));
  Machine& machine = bench.machine;
  machine.set_up_at_once();
  CxlHdmHost& host = *machine.fabric().devices[0].hdm_host;
  CxlHdmDevice& device = *machine.fabric().devices[0].hdm_device;
  Book book;
  StormCore of_host(book, 0, storm.operations, 1), of_device(book, 1, storm.operations, 2);
  host.attach(of_host);
  device.attach(of_device);
  host.wake();
  device.wake();
  const auto are_done = [&] { return of_host.is_done() && of_device.is_done(); };
  ASSERT_TRUE(bench.run_until(are_done, Time::from_us(1'000'000)));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(book.stale_reads, 0U);
  EXPECT_EQ(book.early_reads, 0U);
  EXPECT_EQ(book.torn_reads, 0U);
  EXPECT_EQ(book.begun, book.done) << "a lost write";
  EXPECT_EQ(of_host.failed + of_device.failed, 0U);
  const RunResult result = machine.result();
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  EXPECT_TRUE(result.violations.empty());
  EXPECT_TRUE(result.errors.empty());
  ASSERT_EQ(result.cxl_hdm_db.size(), 1U);
  const CxlHdmDbResult& counts = result.cxl_hdm_db[0];
  EXPECT_EQ(counts.host_reads + counts.host_writes, storm.operations);
  EXPECT_EQ(counts.device_reads + counts.device_writes, storm.operations);
  EXPECT_GT(counts.back_invalidations, storm.operations / 20);
  EXPECT_GT(counts.write_backs, 0U);
  EXPECT_GT(counts.conflicts_early + counts.conflicts_late, 0U);
  // What the last writes of both were, seen from the device.
  StormCore reader(book, 1, 2'000, 99);
  device.attach(reader);
  device.wake();
  ASSERT_TRUE(bench.run_until([&reader] { return reader.is_done(); }, Time::from_us(10'000)));
  EXPECT_EQ(book.stale_reads, 0U);
}

// [COH-5.3] [COH-5.6] [COH-6.1]
TEST(CxlHdmDbStorm, COH_1_2_HostAndDeviceOnTheSameLines) {
  Storm storm;
  storm.operations = 250'000;
  rage(storm);
}

TEST(CxlHdmDbStorm, COH_5_3_LinesThatTheHostReadsAloneWherePossible) {
  rage({CxlCacheRead::kAny});
}

TEST(CxlHdmDbStorm, COH_5_6_LinesThatTheHostReadsOnce) {
  rage({CxlCacheRead::kCurrent});
}

// [CXL-6.2] A replay neither loses nor repeats a message, and BIConflictAck stays behind its Cmp.
TEST(CxlHdmDbStorm, COH_6_4_OverALinkWithErrors) {
  rage({CxlCacheRead::kShared, 1e-5});
}

// [CXL-6.6]
TEST(CxlHdmDbStorm, COH_6_4_InHalvesOfFlitsWithErrors) {
  rage({CxlCacheRead::kAny, 1e-5, 20'000, 256, true});
}

// [COH-6.1] Lines of one way each, one BISnp and two requests out at a time.
TEST(CxlHdmDbStorm, COH_6_1_WithOneBiTagAndTwoTags) {
  Storm storm;
  storm.snoops = 1;
  storm.outstanding = 2;
  storm.ways = 1;
  rage(storm);
}

// [COH-1.6] [COH-6.3] No channel waits for another one for ever.
TEST(CxlHdmDbStorm, CXL_8_4_WithOneCreditOfEachClass) {
  rage({CxlCacheRead::kShared, 0, 5'000, 1});
}

TEST(CxlHdmDbStorm, CXL_8_4_InHalvesOfFlitsWithOneCreditOfEachClass) {
  rage({CxlCacheRead::kAny, 0, 5'000, 1, true});
}

}  // namespace
}  // namespace flitwise
