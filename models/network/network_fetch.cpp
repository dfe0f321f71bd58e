// SPDX-License-Identifier: Apache-2.0
#include "network/network_fetch.h"

#include "network/network_event.h"

namespace flitwise {

void NetworkFetch::all_steps() const {
  for (unsigned steps = 6; steps > 0; --steps) {
    if (const EventQueue::What* const event = events_.behind(steps)) {
      const std::uint32_t where = place_of(*event);
      switch (kind_of(*event)) {
        case NetworkEvent::kArrival: for_arrival(steps, where); break;
        case NetworkEvent::kSend: for_send(steps, where); break;
        default: break;
      }
    }
  }
}

void NetworkFetch::for_arrival(unsigned steps, PortId port) const {
  if (steps == 6) {
    fabric_.fetch_port(port);
    return;
  }
  if (steps == 5) {
    fabric_.fetch_packet(port);
    return;
  }
  if (steps == 4) {
    fabric_.fetch_way(port);
  }
  const FabricPackets::Index index = fabric_.coming_by(port);
  if (index == FabricPackets::kNone) {
    return;
  }
  const RdmaPacket& packet = packets_[index].fields;
  const std::uint32_t number = packet.queue_pair - 1;
  if (number >= ends_.size()) {
    return;
  }
  const NetworkEnd& end = ends_[number];
  steps == 4   ? fetch(&end)
  : steps == 3 ? end.connection->fetch()
  : steps == 2 ? end.connection->fetch_rows(packet)
               : end.connection->fetch_session(packet);
}

void NetworkFetch::for_send(unsigned steps, NodeId host) const {
  const HostSender& port = ports_[host];
  if (steps == 6) {
    fetch(&port);
  } else if (!port.turns.empty()) {
    if (steps == 5) {
      fetch(&port.turns.front());
      return;
    }
    const NetworkEnd& end = ends_[port.turns.front()];
    steps == 4   ? fetch(&end)
    : steps == 3 ? end.connection->fetch()
    : steps == 2 ? end.connection->fetch_next_rows()
                 : end.connection->fetch_next_session();
  }
}

}  // namespace flitwise
