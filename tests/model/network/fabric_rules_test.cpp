// SPDX-License-Identifier: Apache-2.0
// What switches of a network go by, as a configuration says.
#include "network/fabric_rules.h"

#include <gtest/gtest.h>

#include "network/network_setup.h"

namespace flitwise::fabric_rules_test {
namespace {

// [NW-5] Not rounded to parts of the queue, nor lost where a level is more than that.
TEST(FabricRules, NW_5_ALevelOfQueuesIsAsLargeAsItsKey) {
  NetworkConfig network;
  const auto level = [&network] {
    return fabric_rules(network, star_plan({{}, {}}), true, 4096).path.adaptive.level;
  };
  EXPECT_EQ(level(), 1U);
  for (const std::uint64_t bytes : {1'000U, 600U << 10, 2U << 20}) {
    network.routing.level = bytes;
    EXPECT_EQ(level(), bytes) << "of a queue of 1 MiB";
  }
  network.routing.metric = AdaptiveMetric::kUtil;
  EXPECT_EQ(level(), 1U) << "levels are of queues";
}

}  // namespace
}  // namespace flitwise::fabric_rules_test
