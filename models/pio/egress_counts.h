// SPDX-License-Identifier: Apache-2.0
/// What has left by the network port of a device that sends by PIO and SDMA.
#pragma once

#include <cstdint>

#include "stats/latency_histogram.h"

namespace flitwise {

struct EgressCounts {
  std::uint64_t packets = 0, bytes = 0;  ///< of all sources, and what the wire carried
  std::uint64_t sdma_packets = 0;        ///< of SDMA engines among them
  std::uint64_t hostile_packets = 0;     ///< of hostile processes, read out of send memory
};

/// What has left by one virtual lane in the window.
struct EgressLane {
  std::uint64_t packets = 0, bytes = 0;
  std::uint64_t contended_bytes = 0;  ///< of packets that another lane might have gone before
  LatencyHistogram latency;           ///< from where software begins to the last byte on the wire
};

}  // namespace flitwise
