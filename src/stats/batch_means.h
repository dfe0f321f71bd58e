// SPDX-License-Identifier: Apache-2.0
/// How well the mean of a figure is known while a simulation goes on, whose observations depend on
/// those before them: the sequential procedure of Law and Carson (A. M. Law and J. S. Carson, "A
/// Sequential Procedure for Determining the Length of a Steady-State Simulation", Operations
/// Research 27(5), 1979), with the interval for means that are skewed. docs/statistics.md, "When
/// figures are known", says what is asked when.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace flitwise {

/// A figure is a quotient of two sums: payload over time, latencies over requests.
class BatchMeans {
 public:
  struct Rules {
    double tolerance = 0.01;   ///< of the mean: what the half width of the interval may be
    double confidence = 0.95;  ///< of the interval
  };
  struct Estimate {
    double mean = 0;
    std::optional<double> half_width;  ///< none: no checkpoint has been reached
    std::size_t batches = 0;           ///< that the interval rests on
    bool is_known = false;
  };

  explicit BatchMeans(const Rules& rules) : rules_(rules) {}

  /// One observation, or so many at once: what the sums have grown by. Where the second has not
  /// grown it waits for the next ones. The answer: the figure was known at the checkpoint that this
  /// was. REQUIRES: count is 1, or a power of two and no more than together().
  bool add(double numerator, double denominator, std::size_t count = 1);
  /// Observations that are kept as one by now.
  std::size_t together() const { return together_; }
  bool is_known() const { return estimate_.is_known; }
  /// Of the last checkpoint; the mean is that of all observations but those left out, and of a few
  /// observations that of all.
  Estimate estimate() const;

  /// Observations until the first checkpoint; after the second one, two of them are one.
  static constexpr std::size_t kFirst = 600, kSecond = 800;
  /// Observations that are left out at the begin of what is kept: the machine fills, or its queues
  /// find their length.
  static constexpr std::size_t kLeftOut = 40;
  /// Batches of the interval, and the correlation of neighbours among shorter ones below which
  /// those of the interval are taken to be independent. Where they are not it reaches to the
  /// furthest one.
  static constexpr std::size_t kBatches = 40;
  static constexpr double kMostCorrelation = 0.4;

 private:
  struct Sums {
    double numerator = 0, denominator = 0;
    double quotient() const { return numerator / denominator; }
    Sums& operator+=(const Sums& other) {
      numerator += other.numerator;
      denominator += other.denominator;
      return *this;
    }
  };
  /// Of the observations behind those left out, cut into batches; what does not fill one is no
  /// part.
  std::vector<double> quotients(std::size_t batches) const;
  bool hang_together() const;
  bool check();

  Rules rules_;
  std::vector<Sums> observations_;
  Sums pending_;
  std::size_t seen_ = 0, together_ = 1;
  Estimate estimate_;
};

/// Correlation of neighbours in a series, jackknifed against its bias: twice that of all less the
/// mean of those of both halves. 0 of a series that does not vary. REQUIRES: 4 values or more.
double neighbour_correlation(const std::vector<double>& series);

}  // namespace flitwise
