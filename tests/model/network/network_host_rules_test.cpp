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

// A window for each session that there can be: 64 are asked for, and two ports make four pairs.
TEST(NetworkHostRules, SG_3_WindowsAreSharesByTheSessionsThatPortsAllow) {
  SrdmaConfig srdma;
  srdma.is_on = true;
  srdma.sessions = 64;
  EXPECT_EQ(host_rules(NetworkConfig{}, srdma, Time::from_us(10)).carrier.sessions, 64U);
  srdma.first_port = 50'000;
  srdma.last_port = 50'001;
  EXPECT_EQ(host_rules(NetworkConfig{}, srdma, Time::from_us(10)).carrier.sessions, 4U);
}

}  // namespace
}  // namespace flitwise::network_host_rules_test
