// SPDX-License-Identifier: Apache-2.0
#include "stats/flow_times.h"

#include <cstdint>

namespace flitwise {
namespace {

struct SizeBucket {
  const char* name;
  std::uint64_t most;
};
constexpr double kNsPerSlowdown = 1'000;  // a flow that took no longer has a time of 1 us
constexpr SizeBucket kSizeBuckets[] = {{"to_10k", 10'000},
                                       {"to_100k", 100'000},
                                       {"to_1m", 1'000'000},
                                       {"to_10m", 10'000'000},
                                       {"more", ~std::uint64_t{0}}};

FlowTimesRow row_of(const SizeBucket& bucket, const LatencyHistogram& times,
                    const LatencyHistogram& slowdowns) {
  FlowTimesRow row;
  row.name = bucket.name;
  row.most = bucket.most;
  row.flows = times.count();
  const LatencyResult time = times.summary(row.name), slowdown = slowdowns.summary(row.name);
  row.mean_ns = time.mean;
  row.p50_ns = times.percentile_ns(0.5);
  row.p99_ns = times.percentile_ns(0.99);
  row.max_ns = time.max;
  row.mean_slowdown = slowdown.mean / kNsPerSlowdown;
  row.p50_slowdown = slowdowns.percentile_ns(0.5) / kNsPerSlowdown;
  row.p99_slowdown = slowdowns.percentile_ns(0.99) / kNsPerSlowdown;
  row.max_slowdown = slowdown.max / kNsPerSlowdown;
  return row;
}

}  // namespace

void FlowTimes::record(std::uint64_t bytes, Time taken, Time ideal) {
  static_assert(std::size(kSizeBuckets) == kBuckets);
  std::size_t place = 0;
  while (bytes > kSizeBuckets[place].most) {
    ++place;
  }
  const LatencySample time = taken;
  const LatencySample slowdown = Time{static_cast<std::int64_t>(
      kNsPerSlowdown * 1e6 * static_cast<double>(taken.fs) / static_cast<double>(ideal.fs))};
  for (Bucket* const bucket : {&buckets_[place], &all_}) {
    bucket->times.record(time);
    bucket->slowdowns.record(slowdown);
  }
}

std::vector<FlowTimesRow> FlowTimes::rows() const {
  std::vector<FlowTimesRow> rows;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (buckets_[i].times.count() > 0) {
      rows.push_back(row_of(kSizeBuckets[i], buckets_[i].times, buckets_[i].slowdowns));
    }
  }
  rows.push_back(row_of({"all", ~std::uint64_t{0}}, all_.times, all_.slowdowns));
  return rows;
}

}  // namespace flitwise
