// SPDX-License-Identifier: Apache-2.0
// In which order the adapter's reads and writes go out.
#include "rdma/hca_dma.h"

#include <gtest/gtest.h>

#include <vector>

namespace flitwise::hca_dma_test {
namespace {

constexpr Time kNow = Time::from_ns(10);

// A queue pair each.
HcaConfig config_of(std::uint32_t functions) {
  HcaConfig config;
  config.functions.resize(functions);
  config.pairs = functions;
  config.geometry = {0x10000, config.rdma.queue, config.rdma.cq, config.rdma.cqe, 64};
  return config;
}

class Bench {
 public:
  explicit Bench(std::uint32_t functions = 1) : config(config_of(functions)) {}
  void start(HcaJobKind kind, std::uint64_t address, std::uint64_t needs = 0,
             std::uint32_t pair = 0) {
    HcaJob& job = dma.make(dma, kind, kind != HcaJobKind::kCompletion);
    job.address = address;
    job.queue_pair = pair;
    job.bytes = 64;
    job.needs = needs;
    job.own.resize(64);
    dma.start(job, kNow);
  }
  // Of all that may go now.
  std::vector<std::uint64_t> addresses() {
    std::vector<std::uint64_t> all;
    Transfer transfer;
    while (dma.next(kNow, transfer)) {
      all.push_back(transfer.address);
    }
    return all;
  }
  HcaConfig config;
  HcaPairs pairs{config};
  HcaDma dma{[] {}, [](Time) {}, pairs};
};

using Addresses = std::vector<std::uint64_t>;
constexpr HcaJobKind kCompletion = HcaJobKind::kCompletion, kState = HcaJobKind::kState;

// Else software would find the second entry of a completion queue, and not the first.
TEST(HcaDma, VB_6_ACompletionThatWaitsForPayloadHoldsUpThoseBehindIt) {
  Bench bench;
  const std::uint64_t payload = bench.dma.take_payload_number();
  bench.start(kCompletion, 1, payload);
  bench.start(kCompletion, 2);
  bench.start(kState, 3);
  EXPECT_EQ(bench.addresses(), (Addresses{3}));
  bench.dma.payload_done(payload);
  EXPECT_EQ(bench.addresses(), (Addresses{1, 2}));
  bench.start(kCompletion, 4);
  EXPECT_EQ(bench.addresses(), (Addresses{4}));
}

TEST(HcaDma, VB_6_ACompletionDoesNotPassOneThatHasNotGoneYet) {
  Bench bench;
  const std::uint64_t payload = bench.dma.take_payload_number();
  bench.start(kState, 1);
  bench.start(kCompletion, 2);
  bench.start(kCompletion, 3, payload);
  bench.dma.payload_done(payload);
  EXPECT_EQ(bench.addresses(), (Addresses{1, 2, 3}));
}

// Whatever order the payload of the device may go in. A READ and an atomic find what was written
// before them; a state that is read, what was written back.
TEST(HcaDma, VB_6_HP_5_WhatTellsOfPayloadOrReadsItPassesNothing) {
  Bench bench;
  const std::uint64_t payload = bench.dma.take_payload_number();
  bench.dma.payload_done(payload);
  const auto keeps_order = [&](HcaJobKind kind, std::uint64_t needs = 0) {
    bench.start(kind, 1, needs);
    Transfer transfer;
    EXPECT_TRUE(bench.dma.next(kNow, transfer));
    return transfer.keeps_order;
  };
  EXPECT_TRUE(keeps_order(kCompletion, payload));
  EXPECT_TRUE(keeps_order(HcaJobKind::kInterrupt));
  EXPECT_TRUE(keeps_order(HcaJobKind::kStateBack));
  EXPECT_TRUE(keeps_order(kState));
  EXPECT_TRUE(keeps_order(HcaJobKind::kResult));
  EXPECT_TRUE(keeps_order(HcaJobKind::kOperand, payload));
  EXPECT_TRUE(keeps_order(HcaJobKind::kPayload, payload));
  EXPECT_FALSE(keeps_order(HcaJobKind::kPayload));
  EXPECT_FALSE(keeps_order(HcaJobKind::kReceived));
  EXPECT_FALSE(keeps_order(HcaJobKind::kSendEntries));
}

// What else has waited is older, and goes first.
TEST(HcaDma, WhatHasWaitedForPayloadGoesBeforeReads) {
  Bench bench;
  const std::uint64_t payload = bench.dma.take_payload_number();
  bench.start(kState, 1);
  bench.start(HcaJobKind::kPayload, 2, payload);
  bench.dma.payload_done(payload);
  EXPECT_EQ(bench.addresses(), (Addresses{2, 1}));
}

// Others go past them, and what comes for it later ends as well.
TEST(HcaDma, HP_4_JobsOfAFunctionThatIsDownEndAndOthersGo) {
  Bench bench(2);
  const std::uint64_t payload = bench.dma.take_payload_number();
  bench.start(kState, 1, 0, 1);
  bench.start(kCompletion, 2, 0, 1);
  bench.start(kCompletion, 3, payload, 0);
  bench.start(kCompletion, 4, payload, 1);
  bench.pairs.reset(1);
  bench.dma.drop_down(kNow);
  EXPECT_EQ(bench.addresses(), Addresses{});
  bench.dma.payload_done(payload);
  EXPECT_EQ(bench.addresses(), (Addresses{3}));
  bench.start(kState, 5, 0, 1);
  bench.start(kState, 6, 0, 0);
  EXPECT_EQ(bench.addresses(), (Addresses{6}));
  EXPECT_TRUE(bench.dma.holds(1));
  bench.dma.run(kNow);
  EXPECT_FALSE(bench.dma.holds(1)) << "all of them are over";
  EXPECT_TRUE(bench.dma.holds(0));
}

}  // namespace
}  // namespace flitwise::hca_dma_test
