// SPDX-License-Identifier: Apache-2.0
// The traffic engine by itself.
#include "endpoint/dma_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

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
      config, {[&](const WorkItem& /*item*/, std::uint32_t token) { doorbells.push_back(token); },
               [] {}, [] {}, [] {}});
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
      under_way.push_back({transfer.token, transfer.domain, transfer.op, TransferStatus::kDone,
                           transfer.ends_context, now});
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

}  // namespace
}  // namespace flitwise::dma_engine_test
