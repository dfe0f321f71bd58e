// SPDX-License-Identifier: Apache-2.0
// A million hostile packets.
#include "support/hostile_run.h"

namespace flitwise::test::hostile_device_test {
namespace {

// [DHI S1] [DHI S2] [DHI S3]
TEST(HostileDevice, S1_AMillionPacketsHarmNobody) {
  attack(1'000'000, "rid_direct", 11);
}
TEST(HostileDevice, S1_AMillionPacketsWithHandlesInAPrefixHarmNobody) {
  attack(1'000'000, "prefix", 12);
}

}  // namespace
}  // namespace flitwise::test::hostile_device_test
