// SPDX-License-Identifier: Apache-2.0
// Formulas over rows and their baselines.
#include <fmt/format.h>

#include <algorithm>

#include "common/problems.h"
#include "sweep/expression.h"
#include "sweep/findings.h"
#include "sweep/merge.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

bool has_same(const Json& a, const Json& b, const std::string& column) {
  const auto left = a.find(column);
  const auto right = b.find(column);
  return left != a.end() && right != b.end() && *left == *right;
}

struct Formula {
  std::string name;
  Expression expression;
};

/// A figure may name any other: rounds go on until one adds nothing.
void evaluate_row(const MergedSweep& merged, const std::vector<Formula>& formulas, Json& row) {
  const Json* baseline = baseline_of(merged, row);
  const auto lookup = [&](const std::string& column, bool of_baseline) {
    const Json* const from = of_baseline ? baseline : &row;
    return from == nullptr ? std::nullopt : number_at(*from, column);
  };
  for (const Formula& formula : formulas) {
    row[formula.name] = nullptr;
  }
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (const Formula& formula : formulas) {
      if (row[formula.name].is_null()) {
        const auto value = formula.expression.value(lookup);
        if (value) {
          row[formula.name] = *value;
          has_more = true;
        }
      }
    }
  }
}

std::vector<Formula> formulas_of(const BlockPresentation& block) {
  std::vector<Formula> formulas;
  for (const FigureSpec& figure : block.figures) {
    formulas.push_back({figure.name, Expression(figure.formula)});
  }
  return formulas;
}

bool has_value(const MergedSweep& merged, const std::string& block, const std::string& figure) {
  return std::any_of(merged.rows.begin(), merged.rows.end(), [&](const Json& row) {
    return row.at("block") == block && !row.at(figure).is_null();
  });
}

}  // namespace

const Json* baseline_of(const MergedSweep& merged, const Json& row) {
  const BlockPresentation* block = merged.presentation.block(row.at("block").get<std::string>());
  if (block == nullptr || block->baseline.block.empty()) {
    return nullptr;
  }
  const BaselineSpec& baseline = block->baseline;
  const auto is_it = [&](const Json& other) {
    return other.at("block") == baseline.block && is_selected(other, baseline.where) &&
           has_same(other, row, "seed") &&
           std::all_of(baseline.match.begin(), baseline.match.end(),
                       [&](const std::string& column) { return has_same(other, row, column); });
  };
  const auto found = std::find_if(merged.rows.begin(), merged.rows.end(), is_it);
  return found == merged.rows.end() ? nullptr : &*found;
}

// Rows of a block that others are compared with come first, so that their figures are there.
void add_derived_figures(MergedSweep& merged) {
  for (const bool is_own_baseline : {true, false}) {
    for (Json& row : merged.rows) {
      const auto* block = merged.presentation.block(row.at("block").get<std::string>());
      if (block == nullptr || (baseline_of(merged, row) == &row) != is_own_baseline) {
        continue;
      }
      evaluate_row(merged, formulas_of(*block), row);
    }
  }
  for (const BlockPresentation& block : merged.presentation.blocks) {
    for (const FigureSpec& figure : block.figures) {
      if (std::find(merged.columns.begin(), merged.columns.end(), figure.name) ==
          merged.columns.end()) {
        merged.columns.push_back(figure.name);
      }
    }
  }
}

std::vector<std::string> figures_of_nothing(const MergedSweep& merged) {
  std::vector<std::string> found;
  const auto& known = merged.columns;
  for (const BlockPresentation& block : merged.presentation.blocks) {
    for (const Formula& figure : formulas_of(block)) {
      const std::vector<std::string> named = figure.expression.columns();
      const auto unknown = std::find_if(named.begin(), named.end(), [&](const std::string& column) {
        return std::find(known.begin(), known.end(), column) == known.end();
      });
      if (unknown != named.end() && !has_value(merged, block.name, figure.name)) {
        found.push_back(fmt::format(
            "block {}: figure {} has no value: no result has a column '{}'{}", block.name,
            figure.name, *unknown, config::nearest_hint(*unknown, known, "column")));
      }
    }
  }
  return found;
}

}  // namespace flitwise
