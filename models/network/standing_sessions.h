// SPDX-License-Identifier: Apache-2.0
/// Sessions of a network of packets that stand from the first flow on: they come and go at both
/// ends at once, for their handshake takes no time. Without session groups each queue pair has one,
/// which says its source port. [CC-9]
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "flitwise/config.h"
#include "network/network_ends.h"
#include "srdma/port_pairs.h"

namespace flitwise {

class StandingSessions {
 public:
  /// `ends` outlive it.
  StandingSessions(const SrdmaConfig& srdma, NodeId hosts, std::uint64_t seed, NetworkEnds& ends);

  /// The sessions that both ends begin with. `end`: the first of a group.
  void open(std::uint32_t end, Time now) { add(end, srdma_.is_on ? srdma_.sessions : 1, now); }
  /// What control of sessions has decided at an end. [CT-5] [CT-6]
  void obey(std::uint32_t end, const ControlDecision& decision, Time now);

 private:
  struct Draining {
    SessionId id = 0;
    SessionTuple tuple;
  };
  PortPairs& ports_of(NodeId host);
  unsigned add(std::uint32_t end, unsigned count, Time now);
  void drain(std::uint32_t end, const BalancedSession& victim);
  void close_drained(std::uint32_t end, Time now);

  const SrdmaConfig srdma_;
  const std::uint64_t seed_;
  NetworkEnds& ends_;
  std::vector<std::unique_ptr<PortPairs>> pairs_;                      // by host
  std::unordered_map<std::uint32_t, SessionId> next_;                  // by end / 2
  std::unordered_map<std::uint32_t, std::vector<Draining>> draining_;  // by end
};

}  // namespace flitwise
