// SPDX-License-Identifier: Apache-2.0
// Builds the columns: each is filled up to the mean weight with a share of one larger weight.
#include "workload/alias_table.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace flitwise {

AliasTable::AliasTable(const std::vector<double>& weights) : columns_(weights.size()) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto count = static_cast<double>(weights.size());
  std::vector<double> scaled(weights.size());
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    scaled[i] = weights[i] * count / sum;
    (scaled[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t low = small.back();
    const std::uint32_t high = large.back();
    small.pop_back();
    columns_[low] = {static_cast<std::uint64_t>(scaled[low] * 0x1.0p64), high};
    scaled[high] -= 1 - scaled[low];
    if (scaled[high] < 1) {
      large.pop_back();
      small.push_back(high);
    }
  }
  // What is left over is full up to rounding.
  for (const std::vector<std::uint32_t>* rest : {&small, &large}) {
    for (const std::uint32_t i : *rest) {
      columns_[i] = {std::numeric_limits<std::uint64_t>::max(), i};
    }
  }
}

std::vector<double> zipf_weights(std::uint32_t count, double exponent) {
  std::vector<double> weights(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    weights[i] = std::pow(i + 1.0, -exponent);
  }
  return weights;
}

}  // namespace flitwise
