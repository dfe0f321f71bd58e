// SPDX-License-Identifier: Apache-2.0
/// Message sizes: fixed, or drawn from a published cumulative distribution by inversion.
/// Format: docs/workloads.md.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "common/random.h"

namespace flitwise {

/// A distribution over whole bytes, at least 1 and at most a cap. Between two rows of the table the
/// cumulative share is linear, so that P(size <= k) at each whole k is the interpolated figure
/// itself; size 0 becomes 1. Longer messages are cut to the cap, not left out.
class SizeDistribution {
 public:
  static SizeDistribution fixed(std::uint32_t bytes);

  /// By name of a shipped table (shipped_distributions.h), else from the CSV file at that path.
  /// Throws ConfigError with every problem of the file. REQUIRES: cap >= 1.
  static SizeDistribution load(const std::string& name_or_path, std::uint32_t cap);
  /// From CSV text; `file` is the name used in errors.
  static SizeDistribution read(std::istream& in, const std::string& file, std::uint32_t cap);

  /// One size in 1..cap. Constant expected time.
  std::uint32_t draw(Random& random) const;

  /// Mean of the sizes as drawn, cut included. Unit: byte.
  double mean() const { return mean_; }
  /// Share of the published messages that are longer than the cap, 0..1.
  double cut_share() const { return cut_share_; }
  /// P(drawn size <= bytes), 0..1.
  double cumulative(std::uint32_t bytes) const;

 private:
  /// Where the cumulative share runs from `from` to the next point's, the size grows linearly.
  struct Point {
    double bytes;
    double cumulative;  ///< 0..1
  };

  SizeDistribution(std::vector<Point> points, std::uint32_t cap);
  double published_cumulative(double bytes) const;
  double mean_of_drawn() const;

  std::vector<Point> points_;         ///< first at share 0, last at share 1
  std::vector<std::uint32_t> guide_;  ///< first segment that reaches beyond k / guide_.size()
  std::uint32_t cap_;
  double mean_ = 0;
  double cut_share_ = 0;
};

}  // namespace flitwise
