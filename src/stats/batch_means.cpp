// SPDX-License-Identifier: Apache-2.0
#include "stats/batch_means.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/confidence.h"

namespace flitwise {
namespace {

double plain_correlation(const double* series, std::size_t count) {
  const double mean = std::accumulate(series, series + count, 0.0) / static_cast<double>(count);
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double off = series[i] - mean;
    squares += off * off;
    products += i + 1 < count ? off * (series[i + 1] - mean) : 0;
  }
  return squares > 0 ? products / squares : 0;
}

}  // namespace

double neighbour_correlation(const std::vector<double>& series) {
  const std::size_t half = series.size() / 2;
  const double halves =
      plain_correlation(series.data(), half) + plain_correlation(series.data() + half, half);
  return 2 * plain_correlation(series.data(), series.size()) - halves / 2;
}

bool BatchMeans::add(double numerator, double denominator, std::size_t count) {
  pending_ += {numerator, denominator};
  seen_ += count;
  if (seen_ < together_ || pending_.denominator <= 0) {
    return false;
  }
  observations_.push_back(pending_);
  pending_ = {};
  seen_ = 0;
  if (observations_.size() == kFirst) {
    return check();
  }
  if (observations_.size() < kSecond) {
    return false;
  }
  const bool is_known = check();
  for (std::size_t i = 0; i < kSecond / 2; ++i) {
    observations_[i] = observations_[2 * i];
    observations_[i] += observations_[2 * i + 1];
  }
  observations_.resize(kSecond / 2);
  together_ *= 2;
  return is_known;
}

std::vector<double> BatchMeans::quotients(std::size_t batches) const {
  const std::size_t each = (observations_.size() - kLeftOut) / batches;
  std::vector<double> all;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const auto first = observations_.begin() + static_cast<std::ptrdiff_t>(kLeftOut + batch * each);
    all.push_back(std::accumulate(first, first + static_cast<std::ptrdiff_t>(each), Sums{},
                                  [](Sums sum, const Sums& one) { return sum += one; })
                      .quotient());
  }
  return all;
}

// Where neighbours of short batches hang together, batches of twice the length have to do so less.
bool BatchMeans::hang_together() const {
  const std::size_t pairs = (observations_.size() - kLeftOut) / 2;
  const double correlation = neighbour_correlation(quotients(pairs));
  return correlation > 0 && (correlation >= kMostCorrelation ||
                             neighbour_correlation(quotients(pairs / 2)) >= correlation);
}

bool BatchMeans::check() {
  const std::vector<double> batches = quotients(kBatches);
  const MeanInterval interval = interval_of_skewed(batches, rules_.confidence);
  double half_width = *interval.half_width;
  if (hang_together()) {
    for (const double batch : batches) {
      half_width = std::max(half_width, std::abs(batch - interval.mean));
    }
  }
  estimate_.half_width = half_width;
  estimate_.batches = kBatches;
  estimate_.is_known = half_width <= rules_.tolerance * std::abs(interval.mean);
  return estimate_.is_known;
}

BatchMeans::Estimate BatchMeans::estimate() const {
  const std::ptrdiff_t first = observations_.size() < kSecond / 2 ? 0 : kLeftOut;
  const Sums all = std::accumulate(observations_.begin() + first, observations_.end(), pending_,
                                   [](Sums sum, const Sums& one) { return sum += one; });
  Estimate now = estimate_;
  now.mean = all.denominator > 0 ? all.quotient() : 0;
  return now;
}

}  // namespace flitwise
