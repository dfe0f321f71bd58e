// SPDX-License-Identifier: Apache-2.0
/// What an RDMA adapter, and the software of its host, both know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "flitwise/config.h"
#include "rdma/command_buffer.h"
#include "rdma/memory_keys.h"
#include "rdma/qp_context.h"
#include "rdma/rdma_area.h"

namespace flitwise {

/// Queue pair q has the number q + 2, since 0 and 1 are for management. It has the buffer, and is
/// of the protection domain, of domain q of the workload, and so is its memory region.
inline constexpr std::uint32_t kFirstQueuePair = 2;
/// The key of that region: region q is registered as the first in its place.
constexpr std::uint32_t key_of_pair(std::uint32_t pair) {
  return pair << 8 | 1;
}

/// A ring in host memory, as the adapter knows it: entries so far, modulo 2^32.
struct HcaRing {
  std::uint32_t posted = 0, read = 0;
  bool is_read_out = false;  ///< a read of entries is under way
  std::uint32_t left() const { return posted - read; }
};

/// An adapter that has queue pairs with this one.
struct HcaPeer {
  unsigned adapter = 1;          ///< its number
  std::uint32_t pairs = 1;       ///< that it has in all
  std::uint32_t first_pair = 0;  ///< of those of its own that lead here
  std::uint64_t buffer_base = 0;
  std::uint64_t seed = 0;  ///< of its first PSNs
  bool sends = false;      ///< its software posts SENDs here, which take receive buffers
};

struct HcaConfig {
  RdmaConfig rdma;
  RdmaGeometry geometry;
  std::uint64_t buffer_base = 0;  ///< of queue pair 0
  std::uint32_t pairs = 1;
  std::uint64_t doorbell = 0;  ///< offset into BAR 0 of eight bytes
  /// Likewise, of where commands are collected.
  std::uint64_t commands() const { return doorbell + kMostCommandBytes; }
  /// Likewise, of the address registers of static structures.
  std::uint64_t registers() const { return doorbell + kMostCommandBytes / 2; }
  unsigned adapter = 0;    ///< its number, which says its addresses: by a cable 0 or 1
  std::uint64_t seed = 0;  ///< of first PSNs
  /// Each has as many of its queue pairs, in this order. The first is the one that it asks, if any.
  std::vector<HcaPeer> peers = std::vector<HcaPeer>(1);

  RdmaArea area(std::uint32_t pair) const { return {geometry, buffer_base, pair}; }
  /// model: software has drawn them, and has told its peer.
  static Psn first_psn(std::uint64_t seed, std::uint32_t pair) {
    return static_cast<Psn>((seed ^ pair * std::uint64_t{0x9e3779b97f4a7c15}) >> 20) & kPsnMask;
  }
  std::uint32_t pairs_of_each() const { return pairs / static_cast<std::uint32_t>(peers.size()); }
  /// At the other end of a queue pair: who, and which of its own.
  const HcaPeer& peer_of(std::uint32_t pair) const { return peers[pair / pairs_of_each()]; }
  std::uint32_t pair_there(std::uint32_t pair) const {
    return peer_of(pair).first_pair + pair % pairs_of_each();
  }
  QueuePairSetup setup(std::uint32_t pair) const {
    QueuePairSetup setup;
    setup.number = pair + kFirstQueuePair;
    setup.peer = pair_there(pair) + kFirstQueuePair;
    setup.domain = pair;
    setup.rights = kAllRdmaRights;
    setup.mtu = rdma.mtu;
    setup.first_psn = first_psn(seed, pair);
    setup.peer_first_psn = first_psn(peer_of(pair).seed, pair_there(pair));
    setup.window = rdma.window;
    setup.send_depth = rdma.queue;
    setup.most_reads_out = setup.most_reads_taken = rdma.max_rd_atomic;
    setup.retries = rdma.retry_cnt;
    setup.rnr_time = kRnrTime;
    setup.ack_every = rdma.ack_every;
    return setup;
  }

  /// Code 1: 10 us. model: software posts buffers anew sooner than that.
  static constexpr std::uint8_t kRnrTime = 1;
  static constexpr Time kRnrSpan = Time::from_us(10);
  Time time_on_wire(std::uint32_t bytes) const {
    return {static_cast<std::int64_t>(bytes * 8e6 / rdma.port.rate_gbps)};
  }
  /// [LR-3]
  Time retry_time() const { return Time::from_ps(4'096'000) * (std::int64_t{1} << rdma.timeout); }
};

/// What software reads beside that.
struct VerbsDriverConfig {
  HcaConfig hca;
  VerbsConfig verbs;
  bool posts = false;  ///< it has a peer to ask
  /// Of the queue pair at the other end.
  RdmaArea peer_area(std::uint32_t pair) const {
    return {hca.geometry, hca.peer_of(pair).buffer_base, hca.pair_there(pair)};
  }
  std::uint32_t places() const;
  /// Of a queue pair of an adapter with so many. All of them fit into its completion queue of
  /// receives.
  std::uint32_t receive_buffers(std::uint32_t pairs) const;
  std::uint32_t receive_buffers() const { return receive_buffers(hca.pairs); }
};

}  // namespace flitwise
