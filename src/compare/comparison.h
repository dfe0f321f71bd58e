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
  std::string point;  ///< what tells it from others; empty of two runs
  std::string name;
  double a = 0, b = 0;
  std::optional<double> ci95;  ///< half width of the 95 % interval of the change, where it is known

  double delta() const { return b - a; }
  /// Of a; infinite where that was 0 and b is not.
  double percent() const;
  /// The change is larger than chance alone explains, or there is nothing to tell by.
  bool is_sure() const;
};

using FigureDifferences = std::vector<const FigureDifference*>;

struct Comparison {
  bool of_sweeps = false;
  bool has_configs = true;  ///< false: a results.sqlite does not say how its points were configured
  std::size_t points = 0;   ///< of both
  std::vector<ConfigDifference> config;
  std::vector<FigureDifference> figures;                ///< as they stand in the results
  std::vector<std::string> only_in_a, only_in_b;        ///< points
  std::vector<std::string> missing_in_a, missing_in_b;  ///< planned, and without a result
  std::vector<std::string> figures_of_a, figures_of_b;  ///< that no point of the other has
  std::vector<std::string> of_study;  ///< that a study shows and both have; empty: there are none

  /// Those that changed, the largest relative change first; host_seconds is none of them.
  FigureDifferences changed() const;
};

/// Throws ConfigError where one is a run and the other a sweep, no point is in both, or one of them
/// is no result.
Comparison compare(const ResultSource& a, const ResultSource& b);

/// A figure's changes, the largest relative one first.
struct FigureChanges {
  std::string figure;
  FigureDifferences points;
};
/// What people look for first, and the rest. Both in the order of their largest relative change.
struct OrderedChanges {
  /// Figures of the study; without one goodput, efficiency, median and 99th percentile latencies,
  /// errors and checks.
  std::vector<FigureChanges> main;
  std::vector<FigureChanges> others;  ///< the points of which the change is sure
  std::size_t unsure = 0;             ///< other figures that changed at none of them for sure
};
OrderedChanges ordered_changes(const Comparison& comparison);

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
/// "ci95"}], "failed": [...]}. percent is null where it would be infinite. Of sweeps only_in_a,
/// only_in_b, missing_in_a and missing_in_b have points.
nlohmann::ordered_json comparison_json(const Comparison& comparison,
                                       const std::vector<std::string>& failed);
/// For people; so many rows of a table, where it is not all of them. `width`: columns of the
/// terminal.
std::string comparison_text(const Comparison& comparison, std::optional<std::size_t> most,
                            std::size_t width);
/// "-3.10 %" or "from 0"
std::string relative_text(const FigureDifference& figure);
/// So many digits; a count has all of its own.
std::string value_text(double value, int digits = 6);
/// "-17.5 ± 0.3", with a question mark where it is not sure.
std::string change_text(const FigureDifference& figure);
/// Cells of a key of the configuration.
std::string config_text(const nlohmann::ordered_json& value);

}  // namespace flitwise
