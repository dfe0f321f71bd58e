// SPDX-License-Identifier: Apache-2.0
/// What a study wants to show: figures of its own, what they are compared with, plots and findings.
/// Read from the study file, kept beside the results, obeyed by summary and report.
#pragma once

#include <array>
#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace flitwise {

/// Columns that each point has, whatever the study says.
inline constexpr std::array kPointColumns = {"block", "id", "seed", "seeds"};

/// Rows whose columns have one of these values, spelt as in the study: {"workload.payload":
/// ["64B"]}.
using Selection = std::map<std::string, std::vector<std::string>>;

/// A word of a study file that names something, and where it stands. Kept for the checks of the
/// file alone.
struct Mention {
  enum class Of { kColumn, kFigure, kValue, kBaseline };
  Of of = Of::kColumn;
  std::string word;
  std::string column_name;  ///< of a value: its column
  std::string path;         ///< "baseline.where"
  int line = 0;             ///< 1-based
  int column = 0;
};

/// A column that is reckoned from others, figures included.
struct FigureSpec {
  std::string name;
  std::string title;  ///< for people; empty: the name
  std::string unit;
  std::string formula;
  int decimals = 2;
  int line = 0;  ///< where its name stands in the study file, 1-based
  int column = 0;
  std::vector<Mention> mentions = {};  ///< columns of its formula
  const std::string& shown_title() const { return title.empty() ? name : title; }
  /// The title and the unit: "goodput, Gb/s".
  std::string label() const { return shown_title() + (unit.empty() ? "" : ", " + unit); }
};

/// The row that a row is compared with: in `block`, selected by `where`, with the same values of
/// the columns `match` (and the same seed).
struct BaselineSpec {
  std::string block;  ///< empty: no baseline
  Selection where;
  std::vector<std::string> match;
  int line = 0;  ///< where `match` stands in the study file, 1-based
  int column = 0;
};

struct PlotSpec {
  std::string title;
  std::string kind = "lines";       ///< lines, steps or bars
  std::string x;                    ///< column
  std::string series;               ///< column that tells the curves apart; empty: one curve
  std::vector<std::string> facets;  ///< columns whose combinations get a chart each
  std::string figure;               ///< y
  std::vector<std::string> thin;    ///< figures drawn as thin lines: closed forms
  std::string mark;                 ///< figure whose mean is marked on the x axis, per curve
  Selection where;
};

/// Wins, saves nothing or loses: the sign of a figure beyond a tolerance, told per group of rows.
struct VerdictSpec {
  std::string figure;  ///< empty: no verdict
  double within = 0;   ///< that much either way counts as nothing
  std::vector<std::string> per;
};

/// Where figures pass through 0 as another column grows: a break-even.
struct CrossingSpec {
  std::vector<std::string> figures;  ///< empty: none
  std::string along;
  std::string predicted;  ///< figure that says where it should be; may be empty
  std::vector<std::string> per;
};

struct BlockPresentation {
  std::string name;
  std::string title;
  std::string about;
  std::vector<FigureSpec> figures;
  BaselineSpec baseline;
  VerdictSpec verdict;
  CrossingSpec crossing;
  std::vector<PlotSpec> plots;
  std::vector<Selection> summary;   ///< points with a row of the summary: any of these
  std::vector<std::string> varied;  ///< columns that the axes of the block vary, in order
  std::vector<Mention> mentions;    ///< what its keys and those beside `blocks:` name
  const FigureSpec* figure(const std::string& figure_name) const;
  /// Is a row of this block what others of it are compared with?
  bool is_own_baseline(const nlohmann::ordered_json& row) const;
};

/// Figures of a block, each behind those that it names.
struct FigureOrder {
  std::vector<const FigureSpec*> figures;
  std::vector<std::string> cycle;  ///< figures that name each other in a circle; empty: none do
};
FigureOrder order_of_figures(const BlockPresentation& block);

struct Presentation {
  std::string file;  ///< the study, as an absolute path; empty: not known
  std::string title;
  std::vector<std::string>
      summary_columns;  ///< figures; empty: the study has no summary of its own
  std::vector<BlockPresentation> blocks;
  std::vector<Mention> mentions;  ///< figures that `columns` names
  const BlockPresentation* block(const std::string& block_name) const;
};

nlohmann::ordered_json to_json_text(const Presentation& presentation);
/// Throws ConfigError or nlohmann::json::exception where it was not made by to_json_text.
Presentation presentation_from(const nlohmann::ordered_json& json);

/// A quantity as a plain number in its unit: B, ns, Gb/s or Mreq/s; nothing where it is none.
struct PlainQuantity {
  double value = 0;
  const char* unit = "";
};
std::optional<PlainQuantity> plain_quantity(const std::string& text);

/// Has a row one of the values that each column is to have? 64 is "64B" and "64".
bool is_selected(const nlohmann::ordered_json& row, const Selection& selection);
/// A cell as people read it; "-" for nothing.
std::string cell_text(const nlohmann::ordered_json& cell);

}  // namespace flitwise
