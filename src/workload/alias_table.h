// SPDX-License-Identifier: Apache-2.0
/// Draws an index by weight with one random number and one table access.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random.h"

namespace flitwise {

/// Vose's alias method. REQUIRES: 1 to 2^32-1 weights, none negative, not all zero.
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

/// Weights 1 / rank^exponent for rank 1..count: Zipf's law. REQUIRES: exponent >= 0.
std::vector<double> zipf_weights(std::uint32_t count, double exponent);

}  // namespace flitwise
