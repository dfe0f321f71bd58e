// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "config/load.h"

namespace flitwise::larger_value_test {
namespace {

TEST(LargerValue, IsTwiceANumberOrAQuantity) {
  Config config;
  config.iommu.walkers = 4;
  EXPECT_EQ(larger_value(config, "iommu.walkers"), "8");
  EXPECT_EQ(larger_value(config, "link.replay_buffer"), "128KiB");
}

TEST(LargerValue, IsTheNextOfAFewAndNoneBehindTheLast) {
  Config config;
  config.device.tag_bits = 8;
  EXPECT_EQ(larger_value(config, "device.tag_bits"), "10");
  config.device.tag_bits = 10;
  EXPECT_EQ(larger_value(config, "device.tag_bits"), "") << "14 bits need flit mode";
}

TEST(LargerValue, StopsAtTheLargestOfTheSchema) {
  Config config;
  config.device.atc.requests = 200;
  EXPECT_EQ(larger_value(config, "device.atc.requests"), "256");
  config.device.atc.requests = 256;
  EXPECT_EQ(larger_value(config, "device.atc.requests"), "");
}

TEST(LargerValue, OfALinkIsTwiceTheLanesElseTheNextGeneration) {
  Config config;
  config.link.preset = {"gen4x8", 4, 8};
  EXPECT_EQ(larger_value(config, "link.preset"), "gen4x16");
  config.link.preset = {"gen4x16", 4, 16};
  EXPECT_EQ(larger_value(config, "link.preset"), "gen5x16");
  config.link.preset = {"gen6x16", 6, 16};
  EXPECT_EQ(larger_value(config, "link.preset"), "");
}

TEST(LargerValue, OfNoKeyIsNone) {
  EXPECT_EQ(larger_value(Config(), "no.key"), "");
}

}  // namespace
}  // namespace flitwise::larger_value_test
