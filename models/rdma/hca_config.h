// SPDX-License-Identifier: Apache-2.0
/// What an RDMA adapter, and the software of its host, both know.
#pragma once

#include <algorithm>
#include <cstdint>

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

struct HcaConfig {
  RdmaConfig rdma;
  RdmaGeometry geometry;
  std::uint64_t buffer_base = 0;  ///< of queue pair 0
  std::uint32_t pairs = 1;
  std::uint64_t doorbell = 0;  ///< offset into BAR 0 of eight bytes
  /// Likewise, of where commands are collected.
  std::uint64_t commands() const { return doorbell + kMostCommandBytes; }
  unsigned end = 0;                       ///< of the cable: 0 or 1
  std::uint64_t seed = 0, peer_seed = 0;  ///< of first PSNs

  RdmaArea area(std::uint32_t pair) const { return {geometry, buffer_base, pair}; }
  /// model: software has drawn them, and has told its peer.
  static Psn first_psn(std::uint64_t seed, std::uint32_t pair) {
    return static_cast<Psn>((seed ^ pair * std::uint64_t{0x9e3779b97f4a7c15}) >> 20) & kPsnMask;
  }
  QueuePairSetup setup(std::uint32_t pair) const {
    QueuePairSetup setup;
    setup.number = setup.peer = pair + kFirstQueuePair;
    setup.domain = pair;
    setup.rights = kAllRdmaRights;
    setup.mtu = rdma.mtu;
    setup.first_psn = first_psn(seed, pair);
    setup.peer_first_psn = first_psn(peer_seed, pair);
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
  bool posts = false;           ///< it has a peer to ask
  bool peer_sends = false;      ///< its peer posts SENDs, which take receive buffers
  std::uint64_t peer_base = 0;  ///< of the buffers of the peer
  RdmaArea peer_area(std::uint32_t pair) const { return {hca.geometry, peer_base, pair}; }
  std::uint32_t places() const;
  /// Of a queue pair. All of them fit into the completion queue of receives.
  std::uint32_t receive_buffers() const;
};

}  // namespace flitwise
