// SPDX-License-Identifier: Apache-2.0
/// Traffic of many hosts: who sends to whom, how much and when. Each is a FlowSource; the same
/// stream of random numbers makes the same flows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/random.h"
#include "workload/flow.h"
#include "workload/size_distribution.h"

namespace flitwise {

/// Each of n hosts another one, none itself, each of these alike: by rejection, some e draws of a
/// whole. REQUIRES: n >= 2.
std::vector<std::uint32_t> derangement(std::uint32_t hosts, Random& random);

/// Host h sends `bytes` to the host that a derangement gives it, all at time 0.
std::unique_ptr<FlowSource> permutation_flows(std::uint32_t hosts, std::uint64_t bytes,
                                              Random random);
/// All hosts but `to` send `bytes` to it, all at time 0; `senders`: so many of them, those behind
/// it in a circle. REQUIRES: 1 <= senders < hosts.
std::unique_ptr<FlowSource> incast_flows(std::uint32_t hosts, std::uint32_t to,
                                         std::uint32_t senders, std::uint64_t bytes);
/// Each host sends `bytes` to each other one, first to the next one in a circle. `at_once`: so many
/// of its flows are under way at a time; the others wait for the one so many before them. 0: all.
std::unique_ptr<FlowSource> all_to_all_flows(std::uint32_t hosts, std::uint64_t bytes,
                                             std::uint32_t at_once);
/// All hosts in a ring reduce `bytes` each: 2 (n - 1) steps, in each of which a host sends a part,
/// 1 / n of the bytes, to the next one. It may when the part of the step before has come from the
/// one before it. Parts differ by a byte at most, and a part without bytes has one. `rounds`: so
/// often, one behind the other. REQUIRES: n >= 2.
std::unique_ptr<FlowSource> ring_all_reduce_flows(std::uint32_t hosts, std::uint64_t bytes,
                                                  std::uint32_t rounds);

/// Sizes of a distribution, starts as a Poisson process.
struct PoissonFlows {
  std::uint32_t hosts = 2;  ///< at least 2; each one is source and destination alike
  double gbps = 100;        ///< of a host
  double load = 0.5;        ///< payload that comes to be sent, over that rate; above 0
  std::uint64_t flows = 1;  ///< so many
};
/// Streams `arrival`, `size` and `pair` of `random`.
std::unique_ptr<FlowSource> poisson_flows(const PoissonFlows& setup, SizeDistribution sizes,
                                          const Random& random);

}  // namespace flitwise
