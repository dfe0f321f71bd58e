// SPDX-License-Identifier: Apache-2.0
/// What the software of an RDMA adapter, of one of its functions, knows.
#pragma once

#include <cstdint>

#include "rdma/hca_config.h"

namespace flitwise {

/// What software of one function reads beside what its adapter does.
struct VerbsDriverConfig {
  HcaConfig hca;
  VerbsConfig verbs;
  std::uint32_t place = 0;  ///< of its function
  bool posts = false;       ///< it has a peer to ask
  bool peer_sends = false;  ///< some peer posts SENDs, which take receive buffers
  /// One of the two forges frames, or its software is hostile: nobody knows what payload comes.
  bool is_attacked = false;
  std::uint32_t hostile_at_peer = 0;  ///< functions whose software is hostile there
  /// Of its function.
  std::uint32_t pairs() const { return hca.pairs_of(place); }
  std::uint32_t pair(std::uint32_t index) const { return index * hca.function_count() + place; }
  RdmaArea area(std::uint32_t index) const { return hca.area(pair(index)); }
  /// At the other end: of whom, and of which of its queue pairs.
  const HcaPeer& peer_of(std::uint32_t index) const { return hca.peer_of(pair(index)); }
  std::uint32_t pair_there(std::uint32_t index) const { return hca.pair_there(pair(index)); }
  RdmaArea peer_area(std::uint32_t index) const {
    return hca.area_of_peer(peer_of(index), pair_there(index));
  }
  std::uint32_t places() const;
  /// Of a queue pair of an adapter with so many. All of them fit into its completion queue of
  /// receives.
  std::uint32_t receive_buffers(std::uint32_t pairs) const;
  std::uint32_t receive_buffers() const { return receive_buffers(pairs()); }
  /// Of the function at the other end.
  std::uint32_t receive_buffers_there(std::uint32_t index) const {
    return receive_buffers((peer_of(index).pairs + hca.function_count() - 1 - place) /
                           hca.function_count());
  }
};

}  // namespace flitwise
