// SPDX-License-Identifier: Apache-2.0
// Rows of a study's own summary.
#include <fmt/format.h>

#include <algorithm>

#include "results/text_table.h"
#include "sweep/findings.h"
#include "sweep/sweep_summary.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostStudyRows = 40;
constexpr const char* kNoVerdict = "-";

std::string column_title(const Presentation& presentation, const std::string& name) {
  for (const BlockPresentation& block : presentation.blocks) {
    if (const FigureSpec* figure = block.figure(name)) {
      return figure->label();
    }
  }
  return name;
}

std::string cell_of(const Json& row, const BlockPresentation& block, const std::string& name) {
  const auto value = number_at(row, name);
  if (!value) {
    return "-";
  }
  const std::string text = fmt::format("{:.{}f}", *value, block.figure(name)->decimals);
  return text.find_first_not_of("-0.") == std::string::npos && text[0] == '-' ? text.substr(1)
                                                                              : text;
}

/// The figure that all verdicts are on, if it is one and the same.
std::string common_verdict(const Presentation& presentation) {
  std::string common;
  for (const BlockPresentation& block : presentation.blocks) {
    const std::string title = verdict_title(block);
    if (block.summary.empty() || title.empty()) {
      continue;
    }
    if (!common.empty() && common != title) {
      return "";
    }
    common = title;
  }
  return common;
}

/// With the figure that it is on, where the column does not name it.
std::string verdict_of(const Json& row, const BlockPresentation& block, bool names_figure) {
  const bool is_baseline =
      block.baseline.block == block.name && is_selected(row, block.baseline.where);
  const auto value = number_at(row, block.verdict.figure);
  if (is_baseline) {
    return "baseline";
  }
  if (!value) {
    return kNoVerdict;
  }
  const std::string word = verdict_word(*value, block.verdict.within);
  return names_figure ? word + ", " + verdict_title(block) : word;
}

Rows chosen_rows(const MergedSweep& merged, const BlockPresentation& block) {
  Rows chosen;
  for (const Json* row : rows_of(merged, block.name)) {
    if (std::any_of(block.summary.begin(), block.summary.end(),
                    [row](const Selection& one) { return is_selected(*row, one); })) {
      chosen.push_back(row);
    }
  }
  return chosen;
}

bool has_any_verdict(const MergedSweep& merged) {
  const auto& blocks = merged.presentation.blocks;
  return std::any_of(blocks.begin(), blocks.end(), [&](const BlockPresentation& block) {
    const Rows chosen = chosen_rows(merged, block);
    return std::any_of(chosen.begin(), chosen.end(), [&](const Json* row) {
      return verdict_of(*row, block, false) != kNoVerdict;
    });
  });
}

/// Columns that tell the chosen rows apart; all that the block has where there is one row alone, or
/// nothing that tells them apart.
std::string row_label(const MergedSweep& merged, const BlockPresentation& block, const Rows& chosen,
                      const Json& row) {
  const std::vector<std::string> all = telling_columns(merged, block);
  std::vector<std::string> columns;
  for (const std::string& column : all) {
    if (groups_by(chosen, {column}).size() > 1 || column.find('.') == std::string::npos) {
      columns.push_back(column);
    }
  }
  return point_text(merged, row, chosen.size() == 1 || columns.empty() ? all : columns);
}

}  // namespace

bool has_study_summary(const MergedSweep& merged) {
  const auto& blocks = merged.presentation.blocks;
  return !merged.presentation.summary_columns.empty() &&
         std::any_of(blocks.begin(), blocks.end(),
                     [](const BlockPresentation& block) { return !block.summary.empty(); });
}

std::string study_summary(const MergedSweep& merged, std::size_t width) {
  const Presentation& presentation = merged.presentation;
  std::vector<std::string> header = {"block", "point"};
  for (const std::string& name : presentation.summary_columns) {
    header.push_back(column_title(presentation, name));
  }
  const std::string common = common_verdict(presentation);
  const bool has_verdicts = has_any_verdict(merged);
  if (has_verdicts) {
    header.push_back(common.empty() ? "verdict" : "verdict on " + common);
  }
  std::vector<std::string> lines;
  for (const BlockPresentation& block : presentation.blocks) {
    for (const std::string& sentence : crossing_sentences(merged, block)) {
      lines.push_back(block.name + "  " + sentence);
    }
  }
  TextTable table(header, 2);
  table.name_rows_by(2);
  if (has_verdicts) {
    table.left_align(header.size() - 1);
  }
  const std::size_t room = kMostStudyRows - std::min(lines.size(), kMostStudyRows);
  std::size_t rows = 0;
  for (const BlockPresentation& block : presentation.blocks) {
    const Rows chosen = chosen_rows(merged, block);
    for (const Json* row : chosen) {
      if (++rows > room) {
        continue;
      }
      std::vector<std::string> cells = {block.name, row_label(merged, block, chosen, *row)};
      for (const std::string& name : presentation.summary_columns) {
        cells.push_back(cell_of(*row, block, name));
      }
      if (has_verdicts) {
        cells.push_back(verdict_of(*row, block, common.empty()));
      }
      table.add_row(cells);
    }
  }
  std::string text = table.text(width);
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  if (rows > room) {
    text += fmt::format("and {} more points\n", rows - room);
  }
  return text;
}

}  // namespace flitwise
