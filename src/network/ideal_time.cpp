// SPDX-License-Identifier: Apache-2.0
#include "network/ideal_time.h"

#include <algorithm>

#include "network/output_port.h"

namespace flitwise {
namespace {

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + 3) / 4 * 4;
}

}  // namespace

std::uint64_t FlowFraming::wire_bytes(std::uint64_t bytes) const {
  return packets(bytes) * overhead + first + padded(bytes);
}

// A packet leaves an edge behind the one before it and behind itself at the edge before. Of a row
// of packets of one size the last one is kept back by the first one and the slowest edge; so three
// packets are followed: the first one, the last of those of full size, and the last one of all.
Time ideal_time(const std::vector<EdgeRate>& way, const FlowFraming& framing, std::uint64_t bytes) {
  const auto packets = static_cast<std::int64_t>(framing.packets(bytes));
  const std::uint64_t full = std::uint64_t{framing.mtu} + framing.overhead;
  const std::uint64_t rest =
      framing.wire_bytes(bytes) - framing.first - full * static_cast<std::uint64_t>(packets - 1);
  const std::uint64_t lead = (packets == 1 ? rest : full) + framing.first;
  Time first{}, before{}, last{}, delay{};  // when their last bits have left the edge
  for (const EdgeRate& edge : way) {
    const Time span = wire_time(full, edge.gbps);
    first = first + delay + wire_time(lead, edge.gbps);
    before = std::max(first + span * (packets - 2), before + delay + span);
    last = packets == 1 ? first : std::max(last + delay, before) + wire_time(rest, edge.gbps);
    delay = edge.delay;
  }
  return last + delay;
}

std::vector<EdgeRate> ideal_way(const NextHops& hops, NodeId from, NodeId to) {
  std::vector<EdgeRate> way;
  for (NodeId node = from; node != to;) {
    const PortSet ports = hops.candidates(node, to);
    if (ports.empty()) {
      return {};
    }
    const PortId port = *std::max_element(ports.begin(), ports.end(), [&](PortId a, PortId b) {
      return hops.graph().port(a).rate.gbps < hops.graph().port(b).rate.gbps;
    });
    way.push_back(hops.graph().port(port).rate);
    node = hops.graph().port(port).to;
  }
  return way;
}

}  // namespace flitwise
