// SPDX-License-Identifier: Apache-2.0
// Closed loop, constant rate, Poisson and bursts.
#include "workload/arrivals.h"

#include <algorithm>
#include <cmath>

namespace flitwise {

namespace {
constexpr double kFsPerRequestAtOneMrps = 1e9;  ///< one microsecond
constexpr double kLatest = 9.0e18;              ///< fs; below the range of Time

Time rounded(double fs) {
  return {std::llround(std::min(fs, kLatest))};
}
}  // namespace

Arrivals::Arrivals(const WorkloadConfig& config, const Random& random)
    : kind_(config.arrival),
      gap_fs_(kFsPerRequestAtOneMrps / config.rate_mrps),
      burst_(std::max<std::uint64_t>(config.burst, 1)),
      random_(random) {}

void Arrivals::advance(double mean_gap_fs) {
  const double gap = random_.exponential(mean_gap_fs);
  now_ = gap < kLatest - static_cast<double>(now_.fs) ? now_ + rounded(gap) : rounded(kLatest);
}

Time Arrivals::next() {
  switch (kind_) {
    case Arrival::kClosedLoop:
      break;
    case Arrival::kCbr:
      return rounded(gap_fs_ * static_cast<double>(count_++));
    case Arrival::kPoisson:
      advance(gap_fs_);
      break;
    case Arrival::kOnOff:
      if (left_in_burst_ == 0) {
        advance(gap_fs_ * static_cast<double>(burst_));
        left_in_burst_ = burst_;
      }
      --left_in_burst_;
      break;
  }
  return now_;
}

}  // namespace flitwise
