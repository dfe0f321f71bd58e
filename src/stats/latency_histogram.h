// SPDX-License-Identifier: Apache-2.0
/// A histogram of latencies with logarithmic buckets: recording costs a few nanoseconds and never
/// allocates, percentiles are within 1/64 of the true value, and two snapshots can be subtracted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flitwise/error.h"
#include "flitwise/result.h"
#include "flitwise/time.h"

namespace flitwise {

/// One latency and its bucket, for those who record it in several histograms.
class LatencySample {
 public:
  /// REQUIRES: latency >= 0.
  LatencySample(Time latency)
      : ps_(static_cast<std::uint64_t>(latency.fs) / 1'000), bucket_(bucket_of(ps_)) {
    FLITWISE_CHECK(latency.fs >= 0, "negative latency of " + std::to_string(latency.fs) + " fs");
  }

 private:
  friend class LatencyHistogram;
  static constexpr unsigned kSubBits = 6;  ///< 2^6 buckets an octave
  static constexpr std::uint64_t kSub = std::uint64_t{1} << kSubBits;
  static constexpr unsigned kTopBit = 52;
  static constexpr std::size_t kBuckets = (kTopBit - kSubBits + 2) * kSub;

  static std::size_t bucket_of(std::uint64_t ps) {
    if (ps < kSub) {
      return static_cast<std::size_t>(ps);
    }
    const unsigned top = 63U - static_cast<unsigned>(__builtin_clzll(ps));
    if (top > kTopBit) {
      return kBuckets - 1;
    }
    const unsigned shift = top - kSubBits;
    return static_cast<std::size_t>((shift + 1) * kSub + ((ps >> shift) - kSub));
  }

  std::uint64_t ps_;
  std::size_t bucket_;
};

/// Latencies in whole picoseconds. Values below 64 ps have a bucket each; every octave above has
/// 64. Values above 9,007 s fall into the last bucket.
class LatencyHistogram {
 public:
  LatencyHistogram() : buckets_(kBuckets, 0) {}

  /// Counts one latency.
  void record(LatencySample latency) {
    const std::uint64_t ps = latency.ps_;
    ++buckets_[latency.bucket_];
    ++count_;
    sum_ps_ += ps;
    min_ps_ = ps < min_ps_ ? ps : min_ps_;
    max_ps_ = ps > max_ps_ ? ps : max_ps_;
  }

  std::uint64_t count() const { return count_; }
  double samples() const { return static_cast<double>(count_); }
  /// All of them added up. Unit: ns.
  double sum_ns() const { return static_cast<double>(sum_ps_) / 1'000; }
  /// The lowest latency that at least the share `quantile` of all records does not exceed (the
  /// nearest rank: of two, the 99th percentile is the higher), interpolated inside its bucket.
  /// Unit: ns; 0 when nothing was recorded. REQUIRES: 0 <= quantile <= 1.
  double percentile_ns(double quantile) const;

  /// What was recorded after the snapshot `earlier` of this histogram was taken (warm-up is left
  /// out so). REQUIRES: earlier is an older copy of this histogram.
  LatencyHistogram since(const LatencyHistogram& earlier) const;
  /// Adds what the other one has recorded.
  void add(const LatencyHistogram& other);

  /// Exact mean and extremes, and percentiles; 0 when nothing was recorded. After `since` the
  /// extremes are the edges of the outermost buckets that are left.
  LatencyResult summary(const std::string& name) const;

 private:
  static constexpr std::uint64_t kSub = LatencySample::kSub;
  static constexpr std::size_t kBuckets = LatencySample::kBuckets;

  static std::uint64_t first_ps(std::size_t bucket);
  static std::uint64_t last_ps(std::size_t bucket);

  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ps_ = 0;
  std::uint64_t min_ps_ = ~std::uint64_t{0};
  std::uint64_t max_ps_ = 0;
};

}  // namespace flitwise
