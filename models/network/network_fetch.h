// SPDX-License-Identifier: Apache-2.0
/// What the next events of a network of packets touch, asked for ahead of them. It lies behind
/// something else that they touch: one thing after the other is fetched, each an event later.
/// Further ahead some of it would be gone again before it is used. Where few events wait all of it
/// is in the cache. (common/fetch.h)
#pragma once

#include <vector>

#include "network/event_queue.h"
#include "network/host_sender.h"
#include "network/network_ends.h"
#include "network/packet_fabric.h"

namespace flitwise {

class NetworkFetch {
 public:
  /// All of them outlive it.
  NetworkFetch(EventQueue& events, const PacketFabric& fabric, const FabricPackets& packets,
               const std::vector<HostSender>& ports, const NetworkEnds& ends)
      : events_(events), fabric_(fabric), packets_(packets), ports_(ports), ends_(ends) {}

  /// Before the event in front is worked on.
  void ahead() const {
    if (events_.size() >= kFew) {
      all_steps();
    }
  }

 private:
  static constexpr std::size_t kFew = 512;
  void all_steps() const;
  void for_arrival(unsigned steps, PortId port) const;
  void for_send(unsigned steps, NodeId host) const;

  EventQueue& events_;
  const PacketFabric& fabric_;
  const FabricPackets& packets_;
  const std::vector<HostSender>& ports_;  // by host
  const NetworkEnds& ends_;
};

}  // namespace flitwise
