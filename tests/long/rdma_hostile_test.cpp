// SPDX-License-Identifier: Apache-2.0
// A million forged RDMA frames.
#include "support/hostile_peer.h"

namespace flitwise::rdma_hostile_test {
namespace {

TEST(RdmaHostileSoak, HP_7_ForgedFramesTouchNothingThatIsNotGranted) {
  test::expect_memory_stands_against_forged_frames(500'000, 352, 25'000, 1);
}
TEST(RdmaHostileSoak, HP_7_OtherForgedFramesTouchNothingThatIsNotGranted) {
  test::expect_memory_stands_against_forged_frames(500'000, 352, 25'000, 2);
}

}  // namespace
}  // namespace flitwise::rdma_hostile_test
