// SPDX-License-Identifier: Apache-2.0
/// Other traffic of the hosts of a network: plain UDP from each one to any other. [NW-7]
#pragma once

#include <cstdint>
#include <vector>

#include "flitwise/config.h"
#include "network/event_queue.h"
#include "network/fabric_packet.h"
#include "workload/background_packets.h"

namespace flitwise {

class FabricBackground {
 public:
  /// Its events are kBackground. `random`: of the run; nothing is drawn where there is no traffic.
  FabricBackground(const NetworkConfig& network, const NetworkGraph& graph, const Random& random,
                   EventQueue& events);

  /// The event of the host: it has one packet more to send.
  void come(NodeId host);
  bool waits(NodeId host) const { return !hosts_.empty() && hosts_[host].waiting > 0; }
  /// Its fields. REQUIRES: waits(host).
  void take(NodeId host, FabricPacket& packet);

 private:
  struct Host {
    BackgroundPackets packets;
    std::uint32_t waiting = 0;
  };
  const FlowHash hash_;
  const bool is_symmetric_;
  const std::uint32_t bytes_;  // of a packet on the wire
  Random random_;
  EventQueue& events_;
  std::vector<Host> hosts_;  // none: there is no traffic
};

}  // namespace flitwise
