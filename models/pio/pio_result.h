// SPDX-License-Identifier: Apache-2.0
/// What a device that sends by PIO has counted, and its receive engine.
#pragma once

#include <cstdint>
#include <string>

#include "results/tables.h"
#include "stats/latency_histogram.h"

namespace flitwise {

/// From when a packet arrives, or its thread comes to it, to its last byte on the wire. Unit: ns.
struct PacketLatency {
  double latency_mean = 0, latency_p50 = 0, latency_p99 = 0, latency_max = 0;
  void take(const LatencyHistogram& histogram);
};

/// Units, where nothing else is said: packets, bytes, blocks, writes.
struct PioResult : PacketLatency {
  std::string device;
  std::uint64_t packets = 0, bytes = 0;  ///< that have left by the port, and what it carried
  std::uint64_t blocks = 0;              ///< cleared in order, and not returned before the window
  std::uint64_t sdma_packets = 0;
  std::uint64_t lost_packets = 0, hostile_packets = 0;
  std::uint64_t due_to_threshold = 0, due_to_pbc = 0, due_to_force = 0, due_to_early = 0,
                due_to_error = 0;
  std::uint64_t coalesced_returns = 0;  ///< causes that made no write of their own
  std::uint64_t return_writes = 0;      ///< returns that were made
  std::uint64_t steered_returns = 0;    ///< that were sent with a steering tag
  std::uint64_t interrupts = 0;         ///< credit interrupts that were sent
  std::uint64_t returned = 0;           ///< blocks that returns of the window have told of
  std::uint64_t pending = 0;            ///< blocks
  std::uint64_t posted_writes = 0;
  std::uint64_t vls = 0;  ///< by which packets have left
  CountsByKind errors;
};

const StatisticsTable& pio_table();

/// What has left by one virtual lane of a device. Units: packets, bytes.
struct PioVlResult : PacketLatency {
  std::string device, vl;
  std::uint64_t packets = 0, bytes = 0;
  std::uint64_t contended_bytes = 0;      ///< of packets that another lane might have gone before
  double share = 0, contended_share = 0;  ///< of the bytes of all lanes, 0..1
  Time stalled{};  ///< its foremost packet had to wait for the end of the stall
};

const StatisticsTable& pio_vl_table();

/// What a receive engine has counted. Units: packets, bytes, writes.
struct PioReceiveResult {
  std::string device;
  std::uint64_t packets = 0, bytes = 0;  ///< that came by the wire, and what it carried
  std::uint64_t header_writes = 0, payload_writes = 0;  ///< to host memory, that have left
  std::uint64_t payload_bytes = 0;                      ///< of these
};

const StatisticsTable& pio_receive_table();

}  // namespace flitwise
