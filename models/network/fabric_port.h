// SPDX-License-Identifier: Apache-2.0
/// What a network in time keeps of a port: its output, and what is on its way by it. [NW-1]
#pragma once

#include <cstdint>

#include "common/fetch.h"
#include "network/fabric_packet.h"
#include "network/network_graph.h"
#include "network/output_port.h"
#include "network/pfc.h"

namespace flitwise {

/// Where no port may be paused, packets touch what is before `lost` alone: two lines of a cache.
struct alignas(kCacheLine) FabricPort {
  FabricPort(const NetworkGraph::Port& port, std::uint64_t room)
      : output(port.rate.gbps, room), to(port.to), rate(port.rate) {}
  OutputPort output;
  FabricPackets::Index first = FabricPackets::kNone, last = FabricPackets::kNone;
  const NodeId to;
  bool is_handed_over = false;
  const EdgeRate rate;
  std::uint64_t lost = 0;  ///< while its link was down, and by chance

  // ---- of ports that may be paused: packets that wait, and the one that leaves.
  FabricPackets::Index waiting = FabricPackets::kNone, waiting_end = FabricPackets::kNone;
  std::uint64_t waiting_bytes = 0, peak = 0, full = 0, red = 0, marked = 0;
  std::uint32_t leaving_bytes = 0;  ///< 0: none leaves
  PortId leaving_came_by = kNoNetworkPort;
  PausedOutput paused;
  PfcIngress ingress;  ///< of what came by it, at its other end
};

}  // namespace flitwise
