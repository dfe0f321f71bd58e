// SPDX-License-Identifier: Apache-2.0
/// Message sizes drawn from a published cumulative distribution by inversion. Format:
/// docs/workloads.md.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/random.h"

namespace flitwise {

/// A distribution over whole bytes, at least 1 and at most a cap. Between two rows of the table the
/// cumulative share is linear, so that P(size <= k) at each whole k is the interpolated figure
/// itself; size 0 becomes 1. Longer messages are cut to the cap, not left out.
class SizeDistribution {
 public:
  /// By name of a shipped table, else from the CSV file at that path. Throws ConfigError with every
  /// problem of the file. REQUIRES: cap >= 1.
  static SizeDistribution load(const std::string& name_or_path, std::uint32_t cap);
  /// From CSV text; `file` is the name used in errors.
  static SizeDistribution read(std::istream& in, const std::string& file, std::uint32_t cap);

  /// One size in 1..cap. Constant expected time.
  std::uint32_t draw(Random& random) const;
  /// The mean of what draw() gives, without drawing. Some operations a row of the table.
  double mean() const;

 private:
  /// Where the cumulative share runs from `from` to the next point's, the size grows linearly.
  struct Point {
    double bytes;
    double cumulative;  ///< 0..1
  };

  SizeDistribution(std::vector<Point> points, std::uint32_t cap);

  std::vector<Point> points_;         ///< first at share 0, last at share 1
  std::vector<std::uint32_t> guide_;  ///< first segment that reaches beyond k / guide_.size()
  std::uint32_t cap_;
};

// ---- the published distributions that travel inside the program (configs/data/sizes/*.csv)

/// CSV text of the distribution with this name (`google_rpc_2008`, ...); empty if none is called
/// so.
std::optional<std::string_view> shipped_distribution(std::string_view name);

/// All names, in alphabetical order.
std::vector<std::string_view> shipped_distribution_names();

}  // namespace flitwise
