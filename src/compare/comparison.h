// SPDX-License-Identifier: Apache-2.0
/// Two results, or two sweeps point by point: what was configured otherwise, and what changed.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sweep/result_source.h"

namespace flitwise {

/// A key that both have otherwise, for all points that the same is true of.
struct ConfigDifference {
  std::string key;
  nlohmann::ordered_json a, b;  ///< null: the key is not there
  std::size_t points = 0;       ///< so many
};

/// A figure that has a value at a point of both.
struct FigureDifference {
  std::string point;  ///< block and axes; empty of two runs
  std::string name;
  double a = 0, b = 0;
  std::optional<double> ci95;  ///< half width of the 95 % interval of the change; of several seeds

  double delta() const { return b - a; }
  /// Of a; infinite where that was 0 and b is not.
  double percent() const;
  /// The change is larger than the seeds alone explain, or there is nothing to tell by.
  bool is_sure() const;
};

struct Comparison {
  bool of_sweeps = false;
  bool has_configs = true;  ///< false: a results.sqlite does not say how its points were configured
  std::size_t points = 0;   ///< of both
  std::vector<ConfigDifference> config;
  std::vector<FigureDifference> figures;           ///< as they stand in the results
  std::vector<std::string> only_in_a, only_in_b;   ///< points
  std::size_t missing_in_a = 0, missing_in_b = 0;  ///< points that were planned and have no result

  /// Those that changed, the largest relative change first; host_seconds is none of them.
  std::vector<const FigureDifference*> changed() const;
};

/// Throws ConfigError where one is a run and the other a sweep, or no point is in both.
Comparison compare(const ResultSource& a, const ResultSource& b);

/// 'up_goodput_gbps < -2%' or 'dma_read_p99_ns > 50': a change that is too much.
struct Condition {
  std::string text;
  std::string figure;
  bool is_above = false;
  bool is_percent = false;
  double limit = 0;

  bool is_met_by(const FigureDifference& figure_difference) const;
};
/// Throws ConfigError, which says what is wrong and at which character.
Condition read_condition(const std::string& text);

/// A sentence for each point that meets one: "up_goodput_gbps < -2%: -3.1 % at forms: ...". Throws
/// ConfigError where a condition names a figure that no point of both has.
std::vector<std::string> failures_of(const Comparison& comparison,
                                     const std::vector<Condition>& conditions);

/// {"config": [{"key", "a", "b"}], "figures": [{"point", "name", "a", "b", "delta", "percent",
/// "ci95"}], "failed": [...]}. percent is null where it would be infinite.
nlohmann::ordered_json comparison_json(const Comparison& comparison,
                                       const std::vector<std::string>& failed);
/// For people; at most so many figures. `width`: columns of the terminal.
std::string comparison_text(const Comparison& comparison, std::size_t most, std::size_t width);

}  // namespace flitwise
