// SPDX-License-Identifier: Apache-2.0
/// When requests may start (workload.arrival).
#pragma once

#include <cstdint>

#include "common/random.h"
#include "flitwise/config.h"
#include "flitwise/time.h"

namespace flitwise {

/// The earliest issue times of a stream of requests; they never decrease.
class Arrivals {
 public:
  /// REQUIRES: config.rate_mrps > 0 unless closed loop.
  Arrivals(const WorkloadConfig& config, const Random& random);

  /// Closed loop: always 0. CBR: from 0 in equal steps. Poisson: exponential gaps. On/off: bursts
  /// of `burst` requests at one instant, exponential gaps between bursts so that the mean rate
  /// holds.
  Time next();

 private:
  void advance(double mean_gap_fs);

  Arrival kind_;
  double gap_fs_;  ///< mean between requests
  std::uint64_t burst_;
  std::uint64_t left_in_burst_ = 0;
  std::uint64_t count_ = 0;
  Time now_{};
  Random random_;
};

}  // namespace flitwise
