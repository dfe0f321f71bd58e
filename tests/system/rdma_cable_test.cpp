// SPDX-License-Identifier: Apache-2.0
// RDMA over a cable that loses, repeats, damages and reorders frames: memory and completions are
// those of a good one.
#include "support/bad_cable.h"

namespace flitwise::rdma_cable_test {
namespace {

TEST(RdmaCable, LR_3_WhatABadCableDoesToFramesNeverShowsInMemory) {
  test::expect_exact_memory_over_a_bad_cable(20'000, 1);
}

}  // namespace
}  // namespace flitwise::rdma_cable_test
