// SPDX-License-Identifier: Apache-2.0
/// One message after the other: when, whose, which way, how long, where. What a device makes of a
/// message is not decided here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/random.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"
#include "workload/domain_chooser.h"
#include "workload/size_distribution.h"

namespace flitwise {

struct Message {
  Time at{};
  DomainId domain{};
  bool ends_context = false;
  bool is_read = false;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;  ///< of the payload
};

/// The earliest issue times of a stream of requests (workload.arrival); they never decrease.
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

/// Streams for sizes, domains, arrivals and op mix are split from one seed, so that a change of one
/// leaves the others as they were.
class MessageSource {
 public:
  /// Throws ConfigError where a value or the size table is unusable.
  MessageSource(const WorkloadConfig& config, std::uint64_t seed, std::uint64_t warmup);

  /// False after the last message. Allocates nothing.
  bool next(Message& message);

 private:
  std::uint64_t place(DomainId domain, std::uint32_t bytes);

  std::uint64_t left_;
  double read_share_;
  std::uint32_t fixed_bytes_;  ///< without sizes_
  std::optional<SizeDistribution> sizes_;
  std::uint64_t buffer_base_, buffer_size_;
  BufferPlacement placement_;
  std::vector<std::uint64_t> offsets_;  ///< in a ring, by domain: behind its last message
  Arrivals arrivals_;
  Random place_random_, size_random_, mix_random_;
  DomainChooser domains_;
};

}  // namespace flitwise
