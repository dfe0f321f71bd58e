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
#include "workload/size_distribution.h"

namespace flitwise {

/// Draws an index by weight with one random number and one table access: Vose's alias method.
/// REQUIRES: 1 to 2^32-1 weights, none negative, not all zero.
class AliasTable {
 public:
  explicit AliasTable(const std::vector<double>& weights);

  std::uint32_t draw(Random& random) const {
    const WideProduct product = multiply_wide(random.next(), columns_.size());
    const Column& column = columns_[product.high];
    return product.low < column.threshold ? static_cast<std::uint32_t>(product.high) : column.alias;
  }

 private:
  struct Column {
    std::uint64_t threshold;  ///< share of the column that is its own index, of 2^64
    std::uint32_t alias;
  };
  std::vector<Column> columns_;
};

struct ChosenDomain {
  DomainId domain{};
  bool ends_context = false;  ///< the context that this domain names ends with this request
};

/// Under churn, domain ids per live context: an ended id rests until all others were used.
inline constexpr std::uint32_t kChurnPoolFactor = 4;

/// Which domain the next request belongs to (workload.domain_choice), with a random stream of its
/// own. next() allocates nothing.
class DomainChooser {
 public:
  /// REQUIRES: config.domains >= 1.
  DomainChooser(const WorkloadConfig& config, const Random& random);

  ChosenDomain next();

 private:
  /// A fixed number of live contexts, uniform among them. With each request its context ends with
  /// the set probability, and the id that has rested longest starts in its place.
  ChosenDomain next_of_churn();

  DomainChoice choice_;
  /// Working set: those of the phase come first; zipf: by rank of popularity; churn: live contexts.
  std::vector<std::uint32_t> domains_;
  std::size_t next_ = domains_.size() - 1;  // round robin: the one chosen last
  std::optional<AliasTable> ranks_;         // zipf
  std::uint32_t members_;                   // of a working set: a random subset, uniform inside it
  std::uint64_t phase_requests_, left_in_phase_ = 0;
  double churn_;
  std::vector<std::uint32_t> resting_;  // a ring: the swap puts the newest where the oldest was
  std::size_t oldest_ = 0;
  Random random_;
};

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
  std::uint64_t left() const { return left_; }  ///< messages

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
