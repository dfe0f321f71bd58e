// SPDX-License-Identifier: Apache-2.0
// What hosts of a network of packets go by, as a configuration says.
#include "network/network_host_rules.h"

#include <gtest/gtest.h>

namespace flitwise::network_host_rules_test {
namespace {

// [LR-3] 4.096 us x 2^t.
TEST(NetworkHostRules, LR_3_TheRetryTimerTakesTwiceAsLongWithEachExponent) {
  SrdmaConfig srdma;
  Time due = Time::from_ns(4'096);
  for (srdma.timeout = 1; srdma.timeout <= 31; ++srdma.timeout) {
    due += due;
    const NetworkHostRules rules = host_rules(NetworkConfig{}, srdma, Time::from_us(10));
    EXPECT_EQ(rules.retry, due) << srdma.timeout;
    EXPECT_EQ(rules.carrier.balancer.monitor.rto, due) << srdma.timeout;
  }
  srdma.timeout = 0;
  EXPECT_EQ(host_rules(NetworkConfig{}, srdma, Time::from_us(10)).retry, Time::never());
}

}  // namespace
}  // namespace flitwise::network_host_rules_test
