// SPDX-License-Identifier: Apache-2.0
// A peer that forges RDMA frames: nothing but the rules stands between it and memory.
#include "support/hostile_peer.h"

namespace flitwise::rdma_hostile_test {
namespace {

TEST(RdmaHostile, HP_7_ForgedFramesTouchNothingThatIsNotGranted) {
  test::expect_memory_stands_against_forged_frames(20'000, 64, 20'000, 1);
}

}  // namespace
}  // namespace flitwise::rdma_hostile_test
