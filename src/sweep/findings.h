// SPDX-License-Identifier: Apache-2.0
/// What the rows of a block say, as sentences: who wins, saves nothing or loses, and from where on
/// something pays. The study names the figures; the words come from the numbers.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/merge.h"

namespace flitwise {

using Rows = std::vector<const nlohmann::ordered_json*>;

/// The rows of a block, in order.
Rows rows_of(const MergedSweep& merged, const std::string& block);

/// The number in a column, if there is one.
std::optional<double> number_at(const nlohmann::ordered_json& row, const std::string& column);

/// Of the rows that have both.
std::vector<std::pair<double, double>> points_of(const Rows& rows, const std::string& x,
                                                 const std::string& y);

/// Of those that have one.
std::optional<double> mean_of(const Rows& rows, const std::string& column);

/// "wins", "nothing" or "loses"; REQUIRES: within >= 0.
const char* verdict_word(double value, double within);

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

/// One sentence a group of the verdict, and one a group of the crossings.
std::vector<std::string> verdict_sentences(const MergedSweep& merged,
                                           const BlockPresentation& block);
std::vector<std::string> crossing_sentences(const MergedSweep& merged,
                                            const BlockPresentation& block);

}  // namespace flitwise
