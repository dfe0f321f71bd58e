// SPDX-License-Identifier: Apache-2.0
#include "network/network_ends.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "crypto/keyed_stream.h"

namespace flitwise {

NetworkEnds::NetworkEnds(const NetworkHostRules& rules, const Setup& setup, const Random& random)
    : rules_(rules),
      setup_(setup),
      random_(random),
      by_hosts_(std::size_t{setup.hosts} * setup.hosts, kNone) {}

std::uint32_t NetworkEnds::add(NodeId source, NodeId destination) {
  const std::uint32_t first = size();
  Random random = random_.split(fmt::format("connection {} {}", source, destination));
  KeyedStream salts(setup_.seed, fmt::format("hrw/{}", first));
  const auto add_end = [&](const HostConnection::Ends& ends, const std::string& stream,
                           std::uint32_t side) {
    NetworkEnd end;
    end.peer = ends.peer_number - 1;
    end.connection =
        ends.number == first + 1 + side || !setup_.has_groups
            ? std::make_unique<HostConnection>(
                  rules_, memory_, ends, SipKey{salts.next(), salts.next()}, random.split(stream))
            : std::make_unique<HostConnection>(rules_, ends, *ends_[first + side].connection);
    ends_.push_back(std::move(end));
  };
  for (unsigned pair = 0; pair < setup_.queue_pairs; ++pair) {
    const std::uint32_t number = size();
    const auto psn = static_cast<Psn>(random.below(kPsnMask + 1U));
    const auto peer_psn = static_cast<Psn>(random.below(kPsnMask + 1U));
    const std::string more = number == first ? "" : fmt::format(" {}", number - first);
    add_end({source, destination, number + 1, number + 2, psn, peer_psn}, "own" + more, 0);
    add_end({destination, source, number + 2, number + 1, peer_psn, psn}, "peer" + more, 1);
  }
  by_hosts_[place_of(source, destination)] = first;
  by_hosts_[place_of(destination, source)] = first + 1;
  return first;
}

}  // namespace flitwise
