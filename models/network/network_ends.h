// SPDX-License-Identifier: Apache-2.0
/// The ends of the queue pairs of a network of packets, by number and by the hosts at both ends.
/// Ends of even and of odd numbers are at one host each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/fetch.h"
#include "common/random.h"
#include "network/host_connection.h"
#include "network/session_agent.h"

namespace flitwise {

struct alignas(kCacheLine) NetworkEnd {
  std::unique_ptr<HostConnection> connection;
  std::uint32_t peer = 0;                                  ///< the number of its other end
  Time armed = Time::never();                              ///< the next event of its timer
  bool has_turn = false;                                   ///< it stands in the list of its port
  bool is_waiting = false;                                 ///< it stands in the list of its group
  HostConnection::Held held = HostConnection::Held::kNot;  ///< as its port counts it
  std::uint32_t flows = 0;               ///< and parts, that have been posted to its group
  std::vector<std::uint32_t> waiting;    ///< of the first of a group: its ends that had to wait
  SessionAgent::Group* group = nullptr;  ///< null: sessions stand
};

class NetworkEnds {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  /// What all connections go by.
  struct Setup {
    NodeId hosts = 0;
    unsigned queue_pairs = 1;  ///< between two hosts
    bool has_groups = false;   ///< they share sessions; else each has a source port of its own
    std::uint64_t seed = 1;
  };
  /// `rules` outlive it.
  NetworkEnds(const NetworkHostRules& rules, const Setup& setup, const Random& random);

  /// The first end at `source` of the queue pairs with `destination`; kNone: there are none yet.
  std::uint32_t find(NodeId source, NodeId destination) const {
    return by_hosts_[place_of(source, destination)];
  }
  /// Makes them, behind all others: two ends for each, that of `source` first. [SG-7] [CC-9]
  /// REQUIRES: there are none yet.
  std::uint32_t add(NodeId source, NodeId destination);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  NetworkEnd& operator[](std::uint32_t number) { return ends_[number]; }
  const NetworkEnd& operator[](std::uint32_t number) const { return ends_[number]; }
  auto begin() const { return ends_.begin(); }
  auto end() const { return ends_.end(); }

 private:
  std::size_t place_of(NodeId source, NodeId destination) const {
    return std::size_t{source} * setup_.hosts + destination;
  }

  const NetworkHostRules& rules_;
  const Setup setup_;
  const Random random_;
  NetworkHostMemory memory_;
  std::vector<NetworkEnd> ends_;
  std::vector<std::uint32_t> by_hosts_;  // source and destination
};

}  // namespace flitwise
