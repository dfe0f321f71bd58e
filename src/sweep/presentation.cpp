// SPDX-License-Identifier: Apache-2.0
// The presentation as JSON, and its questions to rows.
#include "sweep/presentation.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <set>

#include "common/quantity.h"
#include "common/ranges.h"
#include "flitwise/error.h"
#include "results/expression.h"

namespace flitwise {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FigureSpec, name, title, unit, formula, decimals)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BaselineSpec, block, where, match)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlotSpec, title, kind, x, series, facets, figure, thin, mark,
                                   where)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VerdictSpec, figure, within, per)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CrossingSpec, figures, along, predicted, per)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BlockPresentation, name, title, about, figures, baseline,
                                   verdict, crossing, plots, summary, varied)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Presentation, title, summary_columns, blocks)

namespace {

using Json = nlohmann::ordered_json;

/// True when a cell of a row is the value that the text of a study stands for: a number, or bytes,
/// nanoseconds, Gb/s.
bool cell_is(const Json& cell, const std::string& text) {
  if (cell.is_number()) {
    std::optional<double> wanted = config::read_real(text).value;
    if (const auto quantity = plain_quantity(text); quantity && !wanted) {
      wanted = quantity->value;
    }
    return wanted && std::abs(*wanted - cell.get<double>()) <= 1e-9 * std::abs(*wanted);
  }
  return cell_text(cell) == text;
}

/// Whoever shows a block looks its figures up by name.
void check_figures(const Presentation& presentation, const BlockPresentation& block) {
  std::vector<std::string> names = block.crossing.figures;
  names.push_back(block.verdict.figure);
  if (!block.summary.empty()) {
    names.insert(names.end(), presentation.summary_columns.begin(),
                 presentation.summary_columns.end());
  }
  const bool knows_all = all_of(names, [&](const std::string& name) {
    return name.empty() || block.figure(name) != nullptr;
  });
  const bool has_formulas = all_of(block.figures, [](const FigureSpec& figure) {
    return Expression(figure.formula).is_valid();
  });
  if (!knows_all || !has_formulas) {
    throw ConfigError(
        {{"study.json", 0, 0, "",
          fmt::format("block {} has figures without a formula; expected the file that "
                      "sweep plan wrote",
                      block.name)}});
  }
}

}  // namespace

std::optional<PlainQuantity> plain_quantity(const std::string& text) {
  struct Kind {
    const config::Dimension& dimension;
    double scale;
    const char* unit;
  };
  for (const Kind& kind :
       {Kind{config::size_dimension(), 1, "B"}, Kind{config::time_dimension(), 1e6, "ns"},
        Kind{config::bit_rate_dimension(), 1e9, "Gb/s"},
        Kind{config::request_rate_dimension(), 1e6, "Mreq/s"}}) {
    if (const auto read = config::read_quantity(text, kind.dimension); read.value) {
      return PlainQuantity{static_cast<double>(*read.value) / kind.scale, kind.unit};
    }
  }
  return std::nullopt;
}

const FigureSpec* BlockPresentation::figure(const std::string& figure_name) const {
  return find_where(figures, [&](const FigureSpec& each) { return each.name == figure_name; });
}

bool BlockPresentation::is_own_baseline(const Json& row) const {
  return baseline.block == name && is_selected(row, baseline.where);
}

// Depth first along the names in formulas.
FigureOrder order_of_figures(const BlockPresentation& block) {
  FigureOrder order;
  std::set<std::string> visited;
  std::vector<std::string> open;  // from the first one to that at hand
  const std::function<void(const FigureSpec&)> visit = [&](const FigureSpec& figure) {
    const auto same = std::find(open.begin(), open.end(), figure.name);
    if (same != open.end() && order.cycle.empty()) {
      order.cycle.assign(same, open.end());
    }
    if (!visited.insert(figure.name).second) {
      return;
    }
    open.push_back(figure.name);
    // A row may be its own baseline where both are of one block.
    const bool with_baseline = block.baseline.block == block.name;
    for (const std::string& column : Expression(figure.formula).columns(with_baseline)) {
      if (const FigureSpec* const named = block.figure(column)) {
        visit(*named);
      }
    }
    open.pop_back();
    order.figures.push_back(&figure);
  };
  std::for_each(block.figures.begin(), block.figures.end(), visit);
  return order;
}

const BlockPresentation* Presentation::block(const std::string& block_name) const {
  return find_where(blocks, [&](const BlockPresentation& each) { return each.name == block_name; });
}

Json to_json_text(const Presentation& presentation) {
  nlohmann::json json;
  to_json(json, presentation);
  return json;
}

Presentation presentation_from(const Json& json) {
  Presentation presentation;
  from_json(nlohmann::json(json), presentation);
  for (const BlockPresentation& block : presentation.blocks) {
    check_figures(presentation, block);
  }
  return presentation;
}

bool is_selected(const Json& row, const Selection& selection) {
  return all_of(selection, [&](const auto& wanted) {
    const auto cell = row.find(wanted.first);
    return cell != row.end() &&
           any_of(wanted.second, [&](const std::string& text) { return cell_is(*cell, text); });
  });
}

std::string cell_text(const Json& cell) {
  if (cell.is_string()) {
    return cell.get<std::string>();
  }
  if (cell.is_number()) {
    return fmt::format("{:.10g}", cell.get<double>());
  }
  return cell.is_null() ? "-" : cell.dump();
}

}  // namespace flitwise
