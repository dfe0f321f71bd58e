// SPDX-License-Identifier: Apache-2.0
// Four device caches on four links storm the same lines of host memory: what each core reads is
// held against what all of them have written.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "system/machine_bench.h"

namespace flitwise {
namespace {

constexpr std::size_t kCores = 4, kLines = 64;
constexpr std::uint64_t kBase = std::uint64_t{4} << 30;

/// Each core counts up a word of its own in every line.
struct Book {
  using Counts = std::array<std::array<std::uint64_t, kLines>, kCores>;
  Counts begun{}, done{};  // by writer and line
  std::uint64_t stale_reads = 0, early_reads = 0;
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
    if (end.op == Op::kWrite) {
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
    std::uint64_t line = 0, value = 0;
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
  CxlCacheWrite write = CxlCacheWrite::kOwn;
  double error_rate = 0;
  unsigned error_burst = 1;
  std::uint64_t operations = 20'000;  // of each core
  std::uint32_t credits = 256;
  CxlFlits flits = CxlFlits::k68;
  bool latency_optimised = false;
};

void rage(const Storm& storm) {
  Config config;
  config.link.preset = {"x16", storm.flits == CxlFlits::k68 ? 5U : 6U, 16, storm.flits};
  config.link.cxl.latency_optimised = storm.latency_optimised;
  config.link.error_rate = storm.error_rate;
  config.link.error_burst = storm.error_burst;
  config.link.cxl.req_credits = config.link.cxl.rsp_credits = config.link.cxl.data_credits =
      storm.credits;
  config.system.devices = kCores;
  config.device.cxl.cache.size = Bytes{2} << 10;  // half of the lines
  config.device.cxl.cache.ways = 4;
  config.device.cxl.cache.requests = 16;
  config.device.cxl.cache.read = storm.read;
  config.device.cxl.cache.write = storm.write;
  config.workload.via = WorkloadVia::kCxlCache;
  config.workload.real_payload = true;
  MachineBench bench(config);
  Machine& machine = bench.machine;
  machine.set_up_at_once();
  Book book;
  std::vector<std::unique_ptr<StormCore>> cores;
  for (std::size_t i = 0; i < kCores; ++i) {
    cores.push_back(std::make_unique<StormCore>(book, i, storm.operations, i + 1));
    machine.fabric().devices[i].cache->attach(*cores[i]);
    machine.fabric().devices[i].cache->wake();
  }
  const auto are_done = [&cores] {
    return std::all_of(cores.begin(), cores.end(), [](const auto& one) { return one->is_done(); });
  };
  ASSERT_TRUE(bench.run_until(are_done, Time::from_us(1'000'000)));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(book.stale_reads, 0U);
  EXPECT_EQ(book.early_reads, 0U);
  EXPECT_EQ(book.begun, book.done) << "a lost write";
  for (const CheckResult& check : machine.result().checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  EXPECT_TRUE(machine.result().violations.empty());
  std::uint64_t replays = 0;
  for (const LinkResult& link : machine.result().links) {
    replays += link.up.replay_events + link.down.replay_events;
  }
  EXPECT_EQ(replays > 100, storm.error_rate > 0) << replays;
  for (const std::unique_ptr<StormCore>& one : cores) {
    EXPECT_EQ(one->failed, 0U);
  }
  // What the last write of each core was, seen from another one.
  Book last = book;
  StormCore reader(last, 0, 2'000, 99);
  machine.fabric().devices[1].cache->attach(reader);
  machine.fabric().devices[1].cache->wake();
  ASSERT_TRUE(bench.run_until([&reader] { return reader.is_done(); }, Time::from_us(10'000)));
  EXPECT_EQ(last.stale_reads, 0U);
}

TEST(CxlCacheStorm, COH_1_2_LinesThatAreKeptAndOwned) {
  Storm storm;
  storm.operations = 250'000;  // a million of all four
  rage(storm);
}

TEST(CxlCacheStorm, COH_2_1_LinesThatAreReadAloneWherePossible) {
  rage({CxlCacheRead::kAny, CxlCacheWrite::kOwn});
}

TEST(CxlCacheStorm, COH_2_6_ReadsOnceAndWritesPastTheCache) {
  rage({CxlCacheRead::kCurrent, CxlCacheWrite::kThrough});
}

TEST(CxlCacheStorm, COH_2_3_WritesPastTheCacheOfLinesThatSomeKeep) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kPosted});
}

// [CXL-3.6] A replay neither loses nor repeats a message, and GO stays before the snoop behind it.
TEST(CxlCacheStorm, COH_1_5_OverLinksWithErrors) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kOwn, 1e-4});
}

// [COH-1.6] No channel waits for another one for ever.
TEST(CxlCacheStorm, COH_1_6_WithOneCreditOfEachClass) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kOwn, 0, 1, 5'000, 1});
}

// [CXL-6.2]
TEST(CxlCacheStorm, COH_1_5_In256ByteFlitsWithErrors) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kOwn, 1e-5, 24, 60'000, 256, CxlFlits::k256});
}

// [CXL-6.6] The first half of a flit is used before the second is there.
TEST(CxlCacheStorm, COH_1_5_InHalvesOfFlitsWithErrors) {
  rage({CxlCacheRead::kAny, CxlCacheWrite::kOwn, 1e-5, 24, 60'000, 256, CxlFlits::k256, true});
}

TEST(CxlCacheStorm, COH_1_6_In256ByteFlitsWithOneCreditOfEachClass) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kPosted, 0, 1, 5'000, 1, CxlFlits::k256});
}

}  // namespace
}  // namespace flitwise
