// SPDX-License-Identifier: Apache-2.0
// A device that sends anything at all harms nobody but itself.
#include "support/hostile_run.h"

namespace flitwise::test::hostile_device_test {
namespace {

constexpr std::uint64_t kPackets = 50'000;

// [DHI S1] [DHI S2] [DHI S3]
TEST(HostileDevice, S1_HarmsNobodyWithHandlesInTheRequesterId) {
  attack(kPackets, "rid_direct", 1);
}
TEST(HostileDevice, S1_HarmsNobodyWithHandlesInAPrefix) {
  attack(kPackets, "prefix", 2);
}
TEST(HostileDevice, S1_HarmsNobodyWithHandlesInTheTag) {
  attack(kPackets, "tag", 3);
}

}  // namespace
}  // namespace flitwise::test::hostile_device_test
