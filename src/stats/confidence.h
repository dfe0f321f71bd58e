// SPDX-License-Identifier: Apache-2.0
/// How well a mean is known: intervals by Student's t distribution, which suppose that the samples
/// are independent and roughly normal.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace flitwise {

inline constexpr double kConfidence = 0.95;

/// The true mean lies within mean +- half_width with the confidence asked for.
struct MeanInterval {
  double mean = 0;
  std::optional<double> half_width;  ///< none: of one sample nothing is known
  std::size_t samples = 0;
};

/// What a t variable with so many degrees of freedom exceeds, either way, with a chance of
/// 1 - confidence. REQUIRES: degrees > 0, 0 < confidence < 1.
double student_t(double degrees, double confidence = kConfidence);

/// REQUIRES: there are samples.
MeanInterval interval_of_mean(const std::vector<double>& samples, double confidence = kConfidence);

/// The same where samples may be skewed, and a few far ones may have been missed: the longer side
/// of the interval of R. Willink ("A Confidence Interval and Test for the Mean of an Asymmetric
/// Distribution", Communications in Statistics 34(4), 2005), which N-Skart takes for batch means
/// (A. Tafazzoli, N. M. Steiger and J. R. Wilson, IEEE Transactions on Automatic Control 56(2),
/// 2011). Where the samples lie even it is that of interval_of_mean. REQUIRES: there are samples.
MeanInterval interval_of_skewed(const std::vector<double>& samples,
                                double confidence = kConfidence);

/// Of the mean of b - a, sample by sample: what both have in common cancels. REQUIRES: as many of
/// both, at least one.
MeanInterval interval_of_paired(const std::vector<double>& a, const std::vector<double>& b,
                                double confidence = kConfidence);

/// Of mean(b) - mean(a) where they have nothing in common, whatever their variances: Welch's
/// interval with the degrees of freedom by Satterthwaite. No half width where one has one sample.
/// REQUIRES: both have samples. `samples` of the answer: the fewer.
MeanInterval interval_of_difference(const std::vector<double>& a, const std::vector<double>& b,
                                    double confidence = kConfidence);

}  // namespace flitwise
