// SPDX-License-Identifier: Apache-2.0
// The table of what joins the network ports of RDMA adapters.
#include "config/sections/sections.h"
#include "rdma/rdma_frame.h"

namespace flitwise::config {

Keys network_keys() {
  return {
      choice("network.topology", AT(network.topology),
             "What joins RDMA adapters: a cable between each two that name each other as peers, or "
             "one switch for all of them, by which several may have the same peer."),
      size("network.switch.queue", AT(network.switches.queue),
           between(wire_bytes_of(kLeastFrameBytes), Bytes{1} << 40),
           "Room at each output port of the switch, in bytes on the wire: for frames that have "
           "come, until their last bit has left; those without room are dropped."),
      time("network.switch.timing.latency", AT(network.switches.timing.latency), any_latency(),
           "Of the switch: from the last bit of a frame in to its first bit out, where the port is "
           "free."),
  };
}

}  // namespace flitwise::config
