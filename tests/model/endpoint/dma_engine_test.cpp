// SPDX-License-Identifier: Apache-2.0
// The traffic engine by itself.
#include "endpoint/dma_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "config/load.h"

namespace flitwise::dma_engine_test {
namespace {

// [PRI-06] Messages of one domain overlap: each has several steps, and most wait for the one
// before.
TEST(DmaEngine, PRI_06_AContextEndsWithTheLastStepOfAllItsMessages) {
  const Config config = config_from_text(R"(
workload: {kind: nic, read_fraction: 1, payload: 64B, domains: 4, domain_choice: churn, churn: 0.05, requests: 4000}
)",
                                         "nic.yaml", "");
  std::deque<std::uint32_t> doorbells;
  DmaEngine engine(
      "ep0", "up", config.workload, config.device, config.run, config.device.timing.clock,
      {[&](const WorkItem& /*item*/, std::uint32_t token) { doorbells.push_back(token); }, [] {},
       [] {}, [] {}});
  engine.start(Time{});
  std::map<std::uint32_t, DomainId> begun;  // messages with steps to come, by token
  std::deque<TransferEnd> under_way;
  unsigned ends = 0;
  unsigned overlaps = 0;
  Transfer transfer;
  for (Time now = Time::from_us(1);; now = now + Time::from_us(1)) {
    if (engine.next(now, transfer)) {
      const bool is_last_step = transfer.op == Op::kMsi;
      begun[transfer.token] = transfer.domain;
      if (is_last_step) {
        begun.erase(transfer.token);
      }
      const auto others = std::count_if(begun.begin(), begun.end(), [&](const auto& one) {
        return one.first != transfer.token && one.second == transfer.domain;
      });
      overlaps += others > 0 ? 1U : 0U;
      ends += transfer.ends_context ? 1U : 0U;
      EXPECT_FALSE(transfer.ends_context && (others > 0 || !is_last_step));
      under_way.push_back({transfer.token, transfer.op, TransferStatus::kDone, now});
    } else if (!doorbells.empty()) {
      engine.doorbell_arrived(doorbells.front());
      doorbells.pop_front();
    } else if (!under_way.empty()) {
      engine.finished(under_way.front());
      under_way.pop_front();
    } else {
      break;
    }
  }
  EXPECT_TRUE(engine.is_done());
  EXPECT_GT(ends, 100U);
  EXPECT_GT(overlaps, 1000U);
}

DmaEngine writer(const Config& config) {
  return DmaEngine("ep0", "up", config.workload, config.device, config.run,
                   config.device.timing.clock,
                   {[](const WorkItem& /*item*/, std::uint32_t /*token*/) {}, [] {}, [] {}, [] {}});
}

// Asked on every edge of 2 ns: what a request waits for its edge is not lost.
TEST(DmaEngine, AnIssueIntervalBesideTheClockIsExactOnAverage) {
  const Config config = config_from_text(
      "device: {dma: {issue_interval: 18.5ns}}\nworkload: {kind: posted_write, requests: 1000}\n",
      "writes.yaml", "");
  DmaEngine engine = writer(config);
  engine.start(Time{});
  std::vector<Time> issues;
  Transfer transfer;
  for (Time now{}; issues.size() < 1000; now = now + Time::from_ns(2)) {
    while (engine.next(now, transfer)) {
      issues.push_back(now);
    }
  }
  EXPECT_NEAR((issues.back() - issues.front()).ns() / 999, 18.5, 0.003);
  for (std::size_t i = 1; i < issues.size(); ++i) {
    EXPECT_GE(issues[i] - issues[i - 1], Time::from_ns(18));
    EXPECT_LE(issues[i] - issues[i - 1], Time::from_ns(20));
  }
}

// Nor is a wait for anything else made up for by a burst.
TEST(DmaEngine, AnIssueIntervalBeginsAnewBehindAStall) {
  const Config config = config_from_text(
      "device: {dma: {issue_interval: 10ns}}\nworkload: {kind: posted_write, requests: 10}\n",
      "writes.yaml", "");
  DmaEngine engine = writer(config);
  engine.start(Time{});
  Transfer transfer;
  ASSERT_TRUE(engine.next(Time::from_ns(100), transfer));
  EXPECT_FALSE(engine.next(Time::from_ns(108), transfer));
  EXPECT_TRUE(engine.next(Time::from_ns(110), transfer));
}

}  // namespace
}  // namespace flitwise::dma_engine_test
