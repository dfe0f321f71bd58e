// SPDX-License-Identifier: Apache-2.0
// A million work requests of RDMA over a bad cable.
#include "support/bad_cable.h"

namespace flitwise::rdma_cable_test {
namespace {

TEST(RdmaCableSoak, LR_3_WhatABadCableDoesToFramesNeverShowsInMemory) {
  test::expect_exact_memory_over_a_bad_cable(1'000'000, 2);
}

}  // namespace
}  // namespace flitwise::rdma_cable_test
