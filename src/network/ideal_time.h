// SPDX-License-Identifier: Apache-2.0
/// How long a flow takes that has the network for itself: store and forward over its hops.
#pragma once

#include <cstdint>
#include <vector>

#include "network/next_hops.h"

namespace flitwise {

/// What carries the bytes of a flow.
struct FlowFraming {
  std::uint32_t mtu = 4096;    ///< bytes of payload in a packet
  std::uint32_t overhead = 0;  ///< bytes of a packet on the wire besides payload and pad
  std::uint32_t first = 0;     ///< more in its first packet: that of a WRITE says where it goes

  /// Payload is padded to 4 bytes. [VB-4]
  std::uint64_t packets(std::uint64_t bytes) const {
    return bytes == 0 ? 1 : (bytes + mtu - 1) / mtu;
  }
  std::uint64_t wire_bytes(std::uint64_t bytes) const;  ///< of all its packets
};

/// From its first bit out to the last bit of its last packet at the other end. Exact for edges of
/// any rates, in steps of edges, not of packets. `way`: edges from end to end.
Time ideal_time(const std::vector<EdgeRate>& way, const FlowFraming& framing, std::uint64_t bytes);

/// The edges of a shortest way, of several the one by the fastest port at each node; empty: none.
std::vector<EdgeRate> ideal_way(const NextHops& hops, NodeId from, NodeId to);

}  // namespace flitwise
