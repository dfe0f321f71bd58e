// SPDX-License-Identifier: Apache-2.0
/// What an RDMA adapter, and the software of its host, both know.
// Longer than 150 lines: places of rings and pairs are said once, for both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/config.h"
#include "network/network_host_rules.h"
#include "rdma/command_buffer.h"
#include "rdma/memory_keys.h"
#include "rdma/qp_context.h"
#include "rdma/rdma_area.h"

namespace flitwise {

/// Queue pair q of an adapter has the number q + 2 on the wire, since 0 and 1 are for management.
/// It has the buffer, and is of the protection domain, of domain q of the workload, and so are its
/// memory regions. Software of its function numbers queue pairs, keys and completion queues for
/// itself. [HP-4]
inline constexpr std::uint32_t kFirstQueuePair = 2;
/// Each function has two completion queues: 0 of sends and 1 of receives.
inline constexpr std::uint32_t kCompletionQueues = 2;
/// Memory regions of a queue pair, registered in this order: all of its buffer, for its own
/// software; what the peer writes and reads; a word for its atomics.
enum class PairRegion : std::uint8_t { kOwn, kExposed, kWord };
inline constexpr std::uint32_t kPairRegions = 3;
/// Each is the first in its place. pair: which of its function.
constexpr std::uint32_t key_of(std::uint32_t pair, PairRegion region) {
  return (pair * kPairRegions + static_cast<std::uint32_t>(region)) << 8 | 1;
}

/// A ring in host memory, as the adapter knows it: entries so far, modulo 2^32.
struct HcaRing {
  std::uint32_t posted = 0, read = 0;
  bool is_read_out = false;      ///< a read of entries is under way
  std::uint32_t is_read_of = 0;  ///< of so many
  bool is_lost = false;          ///< entries could not be read: none is any more
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
  unsigned reads = 16;     ///< READs and atomics that it may have out on a queue pair
};

/// Sessions that carry the packets of all its queue pairs.
struct HcaSessionRules {
  SrdmaConfig srdma;
  NetworkHostRules host;
  std::uint64_t seed = 0;  ///< of ports and keys; the same at both ends
};

struct HcaConfig {
  RdmaConfig rdma;
  std::optional<HcaSessionRules> sessions;  ///< none: plain RoCEv2 [CC-9]
  RdmaGeometry geometry;
  std::uint64_t buffer_base = 0;  ///< of queue pair 0
  std::uint32_t pairs = 1;
  /// Functions whose software has queue pairs, rising; queue pair q is of the one at place q modulo
  /// their count.
  std::vector<unsigned> functions = {0};
  std::uint32_t hostile_functions = 0;  ///< whose software is hostile: the last ones
  std::uint64_t doorbell = 0;           ///< offset into BAR 0 of eight bytes
  /// Likewise, of eight bytes behind them that arm completion queues.
  std::uint64_t arms() const { return doorbell + 8; }
  /// Likewise, of the physical function alone: for commands about shares.
  std::uint64_t shares() const { return doorbell + 16; }
  /// Likewise: for commands about the adapter and its functions.
  std::uint64_t control() const { return doorbell + 24; }
  std::uint64_t interrupt_address = 0;  ///< of a message with the number of a completion queue
  /// Likewise, of where commands are collected.
  std::uint64_t commands() const { return doorbell + kMostCommandBytes; }
  /// Likewise, of the address registers of static structures.
  std::uint64_t registers() const { return doorbell + kMostCommandBytes / 2; }
  const char* rate_key = "device.rdma.port.rate";  ///< of the configuration
  unsigned adapter = 0;    ///< its number, which says its addresses: by a cable 0 or 1
  std::uint64_t seed = 0;  ///< of first PSNs
  /// Each has as many of its queue pairs, in this order. The first is the one that it asks, if any.
  std::vector<HcaPeer> peers = std::vector<HcaPeer>(1);

  std::uint32_t function_count() const { return static_cast<std::uint32_t>(functions.size()); }
  std::uint32_t place_of(std::uint32_t pair) const {
    return functions.size() == 1 ? 0 : pair % function_count();  // without a division
  }
  /// Which of its function it is.
  std::uint32_t index_of(std::uint32_t pair) const {
    return functions.size() == 1 ? pair : pair / function_count();
  }
  std::uint32_t pairs_of(std::uint32_t place) const {
    return (pairs + function_count() - 1 - place) / function_count();
  }
  bool is_hostile(std::uint32_t place) const {
    return place + hostile_functions >= function_count();
  }
  /// That the function at that place calls so; none where it has no such.
  std::optional<std::uint32_t> pair_of(std::uint32_t place, std::uint32_t number) const {
    const std::uint32_t index = number - kFirstQueuePair;
    return index < pairs_of(place) ? std::optional<std::uint32_t>(index * function_count() + place)
                                   : std::nullopt;
  }

  /// The first queue pair of a function has its completion queues.
  RdmaArea area_in(const RdmaGeometry& layout, std::uint64_t base, std::uint32_t pair) const {
    return {layout, base + pair * layout.buffer, base + place_of(pair) * layout.buffer,
            index_of(pair)};
  }
  RdmaArea area(std::uint32_t pair) const { return area_in(geometry, buffer_base, pair); }
  RdmaArea area_of_peer(const HcaPeer& peer, std::uint32_t pair) const {
    RdmaGeometry layout = geometry;
    layout.together =
        geometry.together > 0 ? (peer.pairs + function_count() - 1) / function_count() : 0;
    return area_in(layout, peer.buffer_base, pair);
  }
  /// model: software has drawn them, and has told its peer. epoch: how often it has done so.
  static Psn first_psn(std::uint64_t seed, std::uint32_t pair, std::uint32_t epoch = 0) {
    const std::uint64_t word =
        seed ^ pair * std::uint64_t{0x9e3779b97f4a7c15} ^ epoch * std::uint64_t{0xd1b54a32d192ed03};
    return static_cast<Psn>(word >> 20) & kPsnMask;
  }
  std::uint32_t pairs_of_each() const { return pairs / static_cast<std::uint32_t>(peers.size()); }
  /// At the other end of a queue pair: who, and which of its own.
  const HcaPeer& peer_of(std::uint32_t pair) const { return peers[pair / pairs_of_each()]; }
  std::uint32_t pair_there(std::uint32_t pair) const {
    return peer_of(pair).first_pair + pair % pairs_of_each();
  }
  QueuePairSetup setup(std::uint32_t pair, std::uint32_t epoch = 0) const {
    QueuePairSetup setup = sessions ? sessions->host.pair : QueuePairSetup();
    setup.number = pair + kFirstQueuePair;
    setup.peer = pair_there(pair) + kFirstQueuePair;
    setup.domain = pair;
    setup.rights = kAllRdmaRights;
    setup.mtu = rdma.mtu;
    setup.first_psn = first_psn(seed, pair, epoch);
    setup.peer_first_psn = first_psn(peer_of(pair).seed, pair_there(pair), epoch);
    setup.window = rdma.window;
    setup.send_depth = rdma.queue;
    setup.most_reads_out = rdma.max_rd_atomic;
    setup.most_reads_taken = peer_of(pair).reads;
    setup.retries = rdma.retry_cnt;
    if (is_hostile(place_of(pair))) {
      setup.rnr_retries = kFewRetries;  // for its SENDs need not have an end
    }
    setup.rnr_time = kRnrTime;
    setup.ack_every = rdma.ack_every;
    return setup;
  }

  static constexpr unsigned kFewRetries = 1;
  /// Of 10 us. model: software posts buffers anew sooner than that.
  static constexpr std::uint8_t kRnrTime = 1;
  Time time_on_wire(std::uint32_t bytes) const {
    return {static_cast<std::int64_t>(bytes * 8e6 / rdma.port.rate_gbps)};
  }
  /// [LR-3]
  Time retry_time() const { return Time::from_ps(4'096'000) * (std::int64_t{1} << rdma.timeout); }
};

}  // namespace flitwise
