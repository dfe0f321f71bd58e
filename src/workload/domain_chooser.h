// SPDX-License-Identifier: Apache-2.0
/// Which domain the next request belongs to (workload.domain_choice).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/random.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

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

/// With a random stream of its own. next() allocates nothing.
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

}  // namespace flitwise
