// SPDX-License-Identifier: Apache-2.0
/// What an RDMA adapter and its software have counted.
#pragma once

#include <cstdint>
#include <string>

#include "results/tables.h"

namespace flitwise {

struct HcaCounters {
  using Counters = HcaCounters;
  std::uint64_t wqes = 0, cqes = 0;
  std::uint64_t interrupts = 0;  ///< of completion queues
  std::uint64_t pushed = 0;      ///< work requests that came as commands
  std::uint64_t qpsc_hits = 0, qpsc_misses = 0, qpsc_stalls = 0;
  std::uint64_t pretranslated = 0, untranslated = 0;  ///< accesses to static structures
  std::uint64_t retransmits = 0;                      ///< packets
  std::uint64_t sent_frames = 0, sent_bytes = 0;      ///< on the wire
  std::uint64_t received_frames = 0;
  std::uint64_t placed_bytes = 0;  ///< payload of the peer that went to host memory
  std::uint64_t lost_packets = 0;  ///< whose payload could not be read
  std::uint64_t rq_misses = 0;     ///< packets that waited for a receive queue entry
};

/// One adapter. The operations are those that its own software has posted.
struct HcaResult : HcaCounters {
  std::string device;
  std::uint64_t port = 0;
  double pretranslated_read = 0, untranslated_read = 0;  ///< of static structures, mean, ns
  CountsByKind drops;
};

/// A stage of an adapter.
struct HcaStageResult {
  std::string device, stage;
  std::uint64_t entries = 0;
  double busy_ns = 0;                     ///< in which it could not begin with another one
  std::uint64_t waits = 0;                ///< entries that waited for others, or for room behind
  double time_mean = 0;                   ///< ns from when an entry came to when it went on
  std::uint64_t accesses = 0, bytes = 0;  ///< of host memory
};

/// The software that posts work requests on one adapter.
struct VerbsCounters {
  using Counters = VerbsCounters;
  std::uint64_t operations = 0, bytes = 0;  ///< that are complete, and their payload
  std::uint64_t writes = 0, reads = 0, sends = 0, atomics = 0;
  std::uint64_t received = 0;  ///< messages of the peer
};
struct VerbsResult : VerbsCounters {
  std::string device;
  double goodput_gbps = 0;
  double latency_mean = 0, latency_p50 = 0, latency_p99 = 0, latency_max = 0;  ///< ns
};

const StatisticsTable& hca_table();
const StatisticsTable& hca_stage_table();
const StatisticsTable& verbs_table();

}  // namespace flitwise
