// SPDX-License-Identifier: Apache-2.0
// In which order the adapter's reads and writes go out.
#include "rdma/hca_dma.h"

#include <gtest/gtest.h>

#include <vector>

namespace flitwise::hca_dma_test {
namespace {

constexpr Time kNow = Time::from_ns(10);

class Bench {
 public:
  void start(HcaJobKind kind, std::uint64_t address, std::uint64_t needs = 0) {
    HcaJob& job = dma.make(dma, kind, kind != HcaJobKind::kCompletion);
    job.address = address;
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
  HcaDma dma{[] {}, [](Time) {}};
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

}  // namespace
}  // namespace flitwise::hca_dma_test
