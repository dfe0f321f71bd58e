// SPDX-License-Identifier: Apache-2.0
#include "stats/confidence.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>
#include <numeric>

namespace flitwise {
namespace {

double mean_of_samples(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

/// Variance of the mean of samples, from their own; REQUIRES: two or more.
double variance_of_mean(const std::vector<double>& samples) {
  const double mean = mean_of_samples(samples);
  const auto n = static_cast<double>(samples.size());
  double squares = 0;
  for (const double sample : samples) {
    squares += (sample - mean) * (sample - mean);
  }
  return squares / (n - 1) / n;
}

}  // namespace

// In double: long double would bring tables that are filled before main, which ends the program
// under valgrind where the linker has folded Boost's test for it.
double student_t(double degrees, double confidence) {
  using boost::math::policies::policy;
  using boost::math::policies::promote_double;
  const boost::math::students_t_distribution<double, policy<promote_double<false>>> t(degrees);
  return boost::math::quantile(t, (1 + confidence) / 2);
}

MeanInterval interval_of_mean(const std::vector<double>& samples, double confidence) {
  MeanInterval interval{mean_of_samples(samples), std::nullopt, samples.size()};
  if (std::all_of(samples.begin(), samples.end(),
                  [&](double sample) { return sample == samples.front(); })) {
    interval.mean = samples.front();  // to the last digit
  }
  if (samples.size() > 1) {
    interval.half_width = student_t(static_cast<double>(samples.size() - 1), confidence) *
                          std::sqrt(variance_of_mean(samples));
  }
  return interval;
}

MeanInterval interval_of_skewed(const std::vector<double>& samples, double confidence) {
  MeanInterval interval = interval_of_mean(samples, confidence);
  double squares = 0, cubes = 0;
  for (const double sample : samples) {
    const double off = sample - interval.mean;
    squares += off * off;
    cubes += off * off * off;
  }
  const auto count = static_cast<double>(samples.size());
  const double skewness = squares > 0 ? cubes / count / std::pow(squares / count, 1.5) : 0;
  const double beta = std::abs(skewness) / (6 * std::sqrt(count));
  if (beta > 1e-9) {  // below, rounding is all that there would be
    const double t = student_t(count - 1, confidence);
    const double longer = (1 - std::cbrt(1 - 6 * beta * (t + beta))) / (2 * beta);
    *interval.half_width *= longer / t;
  }
  return interval;
}

MeanInterval interval_of_paired(const std::vector<double>& a, const std::vector<double>& b,
                                double confidence) {
  std::vector<double> differences(a.size());
  std::transform(b.begin(), b.end(), a.begin(), differences.begin(), std::minus<>());
  return interval_of_mean(differences, confidence);
}

MeanInterval interval_of_difference(const std::vector<double>& a, const std::vector<double>& b,
                                    double confidence) {
  MeanInterval interval{mean_of_samples(b) - mean_of_samples(a), std::nullopt,
                        std::min(a.size(), b.size())};
  if (interval.samples < 2) {
    return interval;
  }
  const double of_a = variance_of_mean(a), of_b = variance_of_mean(b);
  if (of_a + of_b == 0) {
    interval.half_width = 0;
    return interval;
  }
  const double degrees = (of_a + of_b) * (of_a + of_b) /
                         (of_a * of_a / static_cast<double>(a.size() - 1) +
                          of_b * of_b / static_cast<double>(b.size() - 1));
  interval.half_width = student_t(degrees, confidence) * std::sqrt(of_a + of_b);
  return interval;
}

}  // namespace flitwise
