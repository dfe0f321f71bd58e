// SPDX-License-Identifier: Apache-2.0
/// Latencies between any two hops, from the stamps that packets carry.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"
#include "stats/latency_histogram.h"

namespace flitwise {

class LatencyTracer {
 public:
  explicit LatencyTracer(const std::vector<LatencyPair>& pairs);

  /// A write of the DMA engine is in memory; `packet` is one of its TLPs.
  void write_committed(const Packet& packet);
  /// One read request TLP has its last completion at `done`; `issued` is when its request began.
  void read_completed(const Packet& request, Time issued, Time done);
  /// dma_read and dma_write first, then the configured pairs.
  std::vector<LatencyResult> results() const;

 private:
  struct Pair {
    std::string name;
    Hop from, to;
    LatencyHistogram histogram;
  };
  void record_pairs(const Packet& packet);

  LatencyHistogram dma_read_, dma_write_;
  std::vector<Pair> pairs_;
};

}  // namespace flitwise
