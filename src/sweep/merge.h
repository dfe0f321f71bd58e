// SPDX-License-Identifier: Apache-2.0
/// Many point results as one table: SQLite, CSV, and a short one for people.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/plan.h"
#include "sweep/presentation.h"

namespace flitwise {

/// All points of a sweep that have a result: those that differ in the seed alone are one row.
struct MergedSweep {
  std::vector<std::string> columns;     ///< block, id, seed, seeds, axes, figures
  std::vector<std::string> axes;        ///< config keys that some block varies
  std::vector<std::string> axis_units;  ///< unit of each: "B", "ns", ... or empty
  /// Figures are means over the seeds; where any row has several, FIGURE_ci95 has the half width of
  /// the 95 % interval. seed: of the one there is, else null; id: of the first.
  std::vector<nlohmann::ordered_json> rows;
  /// The same with a row a seed, without intervals: what figures of a study are reckoned from.
  std::vector<std::string> run_columns;
  std::vector<nlohmann::ordered_json> runs;
  std::vector<Point> missing;  ///< points without a result
  Presentation presentation;   ///< what the study wants shown; empty if it says nothing
  /// Of an axis; empty where it has none.
  std::string unit_of(const std::string& column) const;
};

/// Reads the results beside the plan, and study.json if it is there. A row has every axis of the
/// sweep: where its block does not vary a key, the value of its config. Sizes become bytes and
/// times nanoseconds. Labels and the figures of the study are columns too.
MergedSweep merge_results(const Plan& plan, const std::string& folder);

/// Columns that the table `point` of SQLite cannot have: those beyond its 2,000, and those whose
/// name differs from an earlier one in case alone.
std::vector<std::string> columns_beside(const MergedSweep& merged);

/// The value of a key in a configuration as rows have it: bytes, nanoseconds. Null: not there.
nlohmann::ordered_json cell_of_key(const nlohmann::ordered_json& config, const std::string& key);

/// The bytes of a database with tables `point` (a row a point, a column a figure), `run` (the same
/// with a row a seed), `axis` (key, unit) and `study` (json); where there are columns_beside, they
/// are in `point_value` and `run_value` (point or run: the rowid of its row, name, value).
std::string merged_sqlite(const MergedSweep& merged);

/// The table `point` as CSV with a header line; empty where a figure does not apply.
std::string merged_csv(const MergedSweep& merged);

/// Evaluates the figures of each run's block and appends them as columns; null where
/// a column or the baseline is missing. Formulas see columns as written by merge_results.
void add_derived_figures(MergedSweep& merged);

/// Makes the rows of the runs: those that agree in block and axes are one.
void merge_seeds(MergedSweep& merged);

/// The column with the half width of the 95 % interval of a figure.
std::string interval_column(const std::string& figure);

/// A sentence for each figure without a value in any row of its block that names a column no result
/// has. REQUIRES: add_derived_figures was called.
std::vector<std::string> figures_of_nothing(const MergedSweep& merged);

/// The run that `run` is compared with, of the same seed; null if there is none.
const nlohmann::ordered_json* baseline_of(const MergedSweep& merged,
                                          const nlohmann::ordered_json& run);

/// At most 40 rows: those that the study asks for, if it does. Otherwise: a sweep of up to 40
/// points has a row each: its axes, link efficiency, goodput and median and 99th percentile latency
/// upstream. A larger one has a row per block and value of the block's first axis, with the range
/// over its points. `width`: columns of the terminal.
std::string sweep_summary(const MergedSweep& merged, const Plan& plan, std::size_t width = 0);

/// At most 40 rows: a row a chosen point with the study's columns and the verdict, then a row a
/// crossing. What does not fit is counted in a line of its own. Last is what the verdicts rest on;
/// where no row has one there is no column of them. `width`: columns of the terminal.
std::string study_summary(const MergedSweep& merged, std::size_t width = 0);

// What the rows of a block say, as sentences: who wins, saves nothing or loses, and from where on
// something pays. The study names the figures; the words come from the numbers.

using Rows = std::vector<const nlohmann::ordered_json*>;

/// The rows of a block, in order.
Rows rows_of(const MergedSweep& merged, const std::string& block);

/// The number in a column, if there is one.
std::optional<double> number_at(const nlohmann::ordered_json& row, const std::string& column);

/// "2.78 ± 1.82", or "-" where there is no value.
std::string figure_text(const nlohmann::ordered_json& row, const FigureSpec& figure);

/// Of the rows that have both.
std::vector<std::pair<double, double>> points_of(const Rows& rows, const std::string& x,
                                                 const std::string& y);

/// Of those that have one.
std::optional<double> mean_of(const Rows& rows, const std::string& column);

/// Several seeds told how well the figure is known.
bool has_interval(const nlohmann::ordered_json& row, const std::string& figure);

/// Either way, what a figure of a verdict may be and still stand for nothing: where the row has
/// several seeds the half width of its interval, else the tolerance of the study.
double doubt_in(const nlohmann::ordered_json& row, const VerdictSpec& verdict);

/// "wins", "nothing" or "loses"; REQUIRES: within >= 0.
const char* verdict_word(double value, double within);

/// What verdicts on these rows of a block rest on, the rest of a sentence: their intervals, or,
/// where a point has one seed, the tolerance of the study. Empty where none has a verdict.
std::string verdict_basis(const BlockPresentation& block, const Rows& rows);

/// What the verdict of a block is on, as its column is called; empty without one.
std::string verdict_title(const BlockPresentation& block);

/// Rows that agree in the columns `per`.
struct RowGroup {
  std::string label;  ///< the values, "dhi, 64"
  Rows rows;
};
std::vector<RowGroup> groups_by(const Rows& rows, const std::vector<std::string>& per);

/// The columns that tell the points of a block apart: labels, and keys no label stands for.
std::vector<std::string> telling_columns(const MergedSweep& merged, const BlockPresentation& block);
/// "payload 64 B, preset gen5x16" of some columns of a row.
std::string point_text(const MergedSweep& merged, const nlohmann::ordered_json& row,
                       const std::vector<std::string>& columns);

/// One sentence a group of the verdict and one that says what they rest on; one a group of the
/// crossings.
std::vector<std::string> verdict_sentences(const MergedSweep& merged,
                                           const BlockPresentation& block);
std::vector<std::string> crossing_sentences(const MergedSweep& merged,
                                            const BlockPresentation& block);

}  // namespace flitwise
