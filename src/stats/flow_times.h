// SPDX-License-Identifier: Apache-2.0
/// How long flows took, beside what they would have taken alone, by their sizes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "flitwise/time.h"
#include "stats/latency_histogram.h"

namespace flitwise {

/// Of those whose bytes are at most `most`, and more than those of the bucket before.
struct FlowTimesRow {
  std::string name;  ///< "to_10k", ..., "more", "all"
  std::uint64_t most = 0;
  std::uint64_t flows = 0;
  double mean_ns = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
  /// Times over ideal times; 0 where there is no flow.
  double mean_slowdown = 0, p50_slowdown = 0, p99_slowdown = 0, max_slowdown = 0;
};

class FlowTimes {
 public:
  /// A flow is done. REQUIRES: ideal > 0, taken >= 0.
  void record(std::uint64_t bytes, Time taken, Time ideal);
  /// Buckets with flows in the order of sizes, and all of them.
  std::vector<FlowTimesRow> rows() const;
  std::uint64_t flows() const { return all_.times.count(); }

 private:
  struct Bucket {
    LatencyHistogram times, slowdowns;  // of these a microsecond stands for 1
  };
  static constexpr std::size_t kBuckets = 5;
  std::array<Bucket, kBuckets> buckets_;
  Bucket all_;
};

}  // namespace flitwise
