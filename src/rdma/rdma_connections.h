// SPDX-License-Identifier: Apache-2.0
/// Which RDMA adapters have queue pairs with each other (docs/network.md): each that asks with
/// those that it asks. An adapter shares its queue pairs out evenly between its peers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/ranges.h"

namespace flitwise {

struct RdmaConnection {
  std::size_t peer = 0;   ///< among all adapters
  bool is_asked = false;  ///< the peer asks this one
};
/// Of one adapter: first the peers that it asks, in the order of its asking, and then those that
/// ask it, in theirs. Two that ask each other have one connection.
using RdmaConnections = std::vector<RdmaConnection>;

/// By adapter. asked: whom each one asks.
inline std::vector<RdmaConnections> rdma_connections(
    const std::vector<std::vector<std::size_t>>& asked) {
  std::vector<RdmaConnections> all(asked.size());
  for (std::size_t own = 0; own < asked.size(); ++own) {
    for (const std::size_t peer : asked[own]) {
      all[own].push_back({peer, contains(asked[peer], own)});
    }
  }
  for (std::size_t own = 0; own < asked.size(); ++own) {
    for (const std::size_t peer : asked[own]) {
      if (!contains(asked[peer], own)) {
        all[peer].push_back({own, true});
      }
    }
  }
  return all;
}

/// The place of an adapter among the connections of its peer. REQUIRES: it has one there.
inline std::size_t place_of(const RdmaConnections& connections, std::size_t peer) {
  return static_cast<std::size_t>(
      find_if(connections, [&](const RdmaConnection& one) { return one.peer == peer; }) -
      connections.begin());
}

}  // namespace flitwise
