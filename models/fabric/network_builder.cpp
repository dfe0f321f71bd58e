// SPDX-License-Identifier: Apache-2.0
#include "fabric/network_builder.h"

#include "fabric/builder.h"
#include "network/network_setup.h"
#include "network/packet_network.h"

namespace flitwise {

std::unique_ptr<Component> build_packet_network(const Config& config) {
  Builder::add_tables();
  return std::make_unique<PacketNetwork>(
      "network", PacketNetworkConfig::of(config),
      flow_source(config, network_plan(config.network).hosts, Random(config.run.seed)));
}

}  // namespace flitwise
