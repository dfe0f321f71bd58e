// SPDX-License-Identifier: Apache-2.0
// Reading a latency histogram: bucket edges, percentiles, differences.
#include "stats/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flitwise {
namespace {
double to_ns(double ps) {
  return ps / 1'000.0;
}
}  // namespace

std::uint64_t LatencyHistogram::first_ps(std::size_t bucket) {
  if (bucket < kSub) {
    return bucket;
  }
  const std::uint64_t shift = bucket / kSub - 1;
  return (kSub + bucket % kSub) << shift;
}

std::uint64_t LatencyHistogram::last_ps(std::size_t bucket) {
  const std::uint64_t shift = bucket < kSub ? 0 : bucket / kSub - 1;
  return first_ps(bucket) + (std::uint64_t{1} << shift) - 1;
}

double LatencyHistogram::percentile_ns(double quantile) const {
  if (count_ == 0) {
    return 0;
  }
  // The nearest rank, from 1: the first one that has the share at or below it. The product may be
  // rounded up past a whole number.
  constexpr double kExact = 1 - 4 * std::numeric_limits<double>::epsilon();
  const double rank = std::max(std::ceil(quantile * static_cast<double>(count_) * kExact), 1.0);
  std::uint64_t before = 0;
  std::size_t bucket = 0;
  while (static_cast<double>(before + buckets_[bucket]) < rank) {
    before += buckets_[bucket];
    ++bucket;
  }
  const double place =
      (rank - static_cast<double>(before) - 0.5) / static_cast<double>(buckets_[bucket]);
  const auto first = static_cast<double>(first_ps(bucket));
  const auto last = static_cast<double>(last_ps(bucket));
  const double ps = first + (last - first) * place;
  return to_ns(std::clamp(ps, static_cast<double>(min_ps_), static_cast<double>(max_ps_)));
}

LatencyHistogram LatencyHistogram::since(const LatencyHistogram& earlier) const {
  LatencyHistogram rest;
  rest.count_ = count_ - earlier.count_;
  rest.sum_ps_ = sum_ps_ - earlier.sum_ps_;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint64_t left = buckets_[bucket] - earlier.buckets_[bucket];
    rest.buckets_[bucket] = left;
    if (left != 0) {
      rest.min_ps_ = std::min(rest.min_ps_, std::max(first_ps(bucket), min_ps_));
      rest.max_ps_ = std::max(rest.max_ps_, std::min(last_ps(bucket), max_ps_));
    }
  }
  if (earlier.count_ == 0) {
    rest.min_ps_ = min_ps_;
    rest.max_ps_ = max_ps_;
  }
  return rest;
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  count_ += other.count_;
  sum_ps_ += other.sum_ps_;
  min_ps_ = std::min(min_ps_, other.min_ps_);
  max_ps_ = std::max(max_ps_, other.max_ps_);
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    buckets_[bucket] += other.buckets_[bucket];
  }
}

LatencyResult LatencyHistogram::summary(const std::string& name) const {
  LatencyResult result;
  result.name = name;
  if (count_ == 0) {
    return result;
  }
  result.count = count_;
  result.mean = to_ns(static_cast<double>(sum_ps_) / static_cast<double>(count_));
  result.min = to_ns(static_cast<double>(min_ps_));
  result.p50 = percentile_ns(0.50);
  result.p90 = percentile_ns(0.90);
  result.p99 = percentile_ns(0.99);
  result.p999 = percentile_ns(0.999);
  result.max = to_ns(static_cast<double>(max_ps_));
  return result;
}

}  // namespace flitwise
