// SPDX-License-Identifier: Apache-2.0
// Which machines have network ports to capture.
#include "config/traces.h"

#include <gtest/gtest.h>

#include <string>

#include "config/load.h"

namespace flitwise::traces_test {
namespace {

bool has_port(const std::string& text) {
  return has_network_port(config_from_text(text, "run.yaml", ""));
}

TEST(NetworkPorts, AMachineHasSomeWhereADeviceNamesAPeer) {
  const std::string rest =
      "\nlink: {preset: gen4x16}\ndevice: {functions: {bar_size: 64MiB}}\n"
      "workload: {domains: 2, payload: 184B, via: ";
  const auto peer = [](const std::string& key) {
    return "system: {devices: 2, instances: {ep1: {" + key + ": ep0}}}";
  };
  EXPECT_TRUE(has_port(peer("device.pio.egress.peer") + rest + "pio}\n"));
  EXPECT_FALSE(has_port("system: {devices: 2}" + rest + "pio}\n"));
  EXPECT_TRUE(has_port(peer("device.rdma.peer") + rest + "rdma}\n"));
  EXPECT_FALSE(has_port("workload: {kind: read}\n"));
}

}  // namespace
}  // namespace flitwise::traces_test
