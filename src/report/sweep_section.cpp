// SPDX-License-Identifier: Apache-2.0
// A sweep as HTML: per block small charts over its most numerous numeric axis, then the table.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/html.h"
#include "report/report.h"
#include "report/svg_plot.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

struct Figure {
  const char* title;
  const char* y_label;
  std::vector<const char*> columns;  ///< the first one that is there and above 0 counts
  double factor;
};

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kFigures = {
      {"Link efficiency", "payload / wire, %", {"up_link_efficiency"}, 100},
      {"Goodput", "Gb/s", {"up_goodput_gbps", "down_goodput_gbps"}, 1},
      {"Median latency", "ns", {"dma_write_p50_ns", "dma_read_p50_ns"}, 1},
      {"99th percentile latency", "ns", {"dma_write_p99_ns", "dma_read_p99_ns"}, 1},
  };
  return kFigures;
}

std::string plain_text(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_number() ? fmt::format("{:.10g}", value.get<double>()) : value.dump();
}

/// One block of the sweep: its rows and what varies in it.
struct BlockView {
  std::string name;
  std::vector<const Json*> rows;
  std::string x;                    ///< axis of the charts; empty: none
  std::string series;               ///< axis that makes the curves; empty: one curve
  std::vector<std::string> facets;  ///< axes whose combinations get a chart each
};

std::size_t distinct(const BlockView& block, const std::string& axis) {
  std::set<std::string> values;
  for (const Json* row : block.rows) {
    values.insert(row->at(axis).dump());
  }
  return values.size();
}

bool is_numeric(const BlockView& block, const std::string& axis) {
  return std::all_of(block.rows.begin(), block.rows.end(),
                     [&](const Json* row) { return row->at(axis).is_number(); });
}

void choose_axes(BlockView& block, const MergedSweep& merged) {
  std::vector<std::string> varying;
  for (const std::string& axis : merged.axes) {
    if (distinct(block, axis) > 1) {
      varying.push_back(axis);
    }
  }
  for (const std::string& axis : varying) {
    if (is_numeric(block, axis) &&
        (block.x.empty() || distinct(block, axis) > distinct(block, block.x))) {
      block.x = axis;
    }
  }
  // What the study compares makes the curves; else the axis with most values that still fits.
  if (std::find(varying.begin(), varying.end(), "link.identity") != varying.end()) {
    block.series = "link.identity";
  }
  for (const std::string& axis : varying) {
    if (axis != block.x && block.series != "link.identity" &&
        distinct(block, axis) <= kMostSeries &&
        (block.series.empty() || distinct(block, axis) > distinct(block, block.series))) {
      block.series = axis;
    }
  }
  for (const std::string& axis : varying) {
    if (axis != block.x && axis != block.series) {
      block.facets.push_back(axis);
    }
  }
}

Json figure_of(const Json& row, const Figure& figure) {
  for (const char* column : figure.columns) {
    const auto found = row.find(column);
    if (found != row.end() && found->is_number() && found->get<double>() > 0) {
      return *found;
    }
  }
  return nullptr;
}

std::string unit_of(const MergedSweep& merged, const std::string& axis) {
  const std::string unit = merged.unit_of(axis);
  return unit.empty() ? "" : ", " + unit;
}

/// Powers of something read better on a logarithmic axis.
bool wants_log(const std::vector<const Json*>& rows, const std::string& axis) {
  double low = INFINITY;
  double high = 0;
  for (const Json* row : rows) {
    low = std::min(low, row->at(axis).get<double>());
    high = std::max(high, row->at(axis).get<double>());
  }
  return low > 0 && high / low >= 16;
}

/// One chart: the mean over seeds of a figure, a curve per value of the series axis.
std::string chart(const BlockView& block, const MergedSweep& merged, const Figure& figure,
                  const std::vector<const Json*>& rows, const std::string& facet) {
  std::vector<std::string> order;
  std::map<std::string, std::map<double, std::pair<double, int>>> curves;
  for (const Json* row : rows) {
    const Json value = figure_of(*row, figure);
    if (value.is_null()) {
      continue;
    }
    const std::string name = block.series.empty() ? "" : plain_text(row->at(block.series));
    if (curves.find(name) == curves.end()) {
      order.push_back(name);
    }
    auto& [sum, n] = curves[name][row->at(block.x).get<double>()];
    sum += value.get<double>() * figure.factor;
    ++n;
  }
  LineChart line;
  line.title = figure.title + (facet.empty() ? "" : ": " + facet);
  line.x_label = block.x + unit_of(merged, block.x);
  line.y_label = figure.y_label;
  line.log_x = wants_log(block.rows, block.x);
  for (const std::string& name : order) {
    Series series{name, {}};
    for (const auto& [x, total] : curves[name]) {
      series.points.emplace_back(x, total.first / total.second);
    }
    line.series.push_back(std::move(series));
  }
  return line.svg();
}

std::string charts_html(const BlockView& block, const MergedSweep& merged) {
  constexpr std::size_t kMostFacets = 8;
  if (block.x.empty()) {
    return "";
  }
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Json*>> facets;
  for (const Json* row : block.rows) {
    std::string facet;
    for (const std::string& axis : block.facets) {
      const std::size_t dot = axis.rfind('.');
      facet += (facet.empty() ? "" : ", ") + axis.substr(dot + 1) + " " + plain_text(row->at(axis));
    }
    if (facets[facet].empty()) {
      order.push_back(facet);
    }
    facets[facet].push_back(row);
  }
  std::string html;
  if (order.size() > kMostFacets) {
    html += fmt::format(
        "<p>Charts show the first {} of {} combinations of {}; the table has all.</p>\n",
        kMostFacets, order.size(), html_text(fmt::format("{}", fmt::join(block.facets, ", "))));
    order.resize(kMostFacets);
  }
  if (!block.series.empty()) {
    html += fmt::format("<p>Curves: {}{}.</p>\n", html_text(block.series),
                        unit_of(merged, block.series));
  }
  html += "<div class=\"charts\">\n";
  for (const std::string& facet : order) {
    for (const Figure& figure : figures()) {
      html += chart(block, merged, figure, facets[facet], facet);
    }
  }
  return html + "</div>\n";
}

std::string table_html(const BlockView& block, const MergedSweep& merged) {
  std::vector<std::string> header;
  for (const std::string& axis : merged.axes) {
    header.push_back(axis + unit_of(merged, axis));
  }
  header.emplace_back("seed");
  for (const Figure& figure : figures()) {
    header.push_back(std::string(figure.title) + ", " + figure.y_label);
  }
  HtmlTable table(header);
  for (const Json* row : block.rows) {
    std::vector<std::string> cells;
    for (const std::string& axis : merged.axes) {
      cells.push_back(plain_text(row->at(axis)));
    }
    cells.push_back(plain_text(row->at("seed")));
    for (const Figure& figure : figures()) {
      const Json value = figure_of(*row, figure);
      cells.push_back(value.is_null() ? "-"
                                      : fmt::format("{:.2f}", value.get<double>() * figure.factor));
    }
    table.add_row(cells);
  }
  return table_of_points(table);
}

}  // namespace

std::string sweep_section(const MergedSweep& merged, const ReportOptions& options) {
  std::vector<BlockView> blocks;
  for (const Json& row : merged.rows) {
    const auto name = row.at("block").get<std::string>();
    auto block = std::find_if(blocks.begin(), blocks.end(),
                              [&](const BlockView& each) { return each.name == name; });
    if (block == blocks.end()) {
      block = blocks.insert(blocks.end(), BlockView{name, {}, "", "", {}});
    }
    block->rows.push_back(&row);
  }
  std::string html;
  for (BlockView& block : blocks) {
    const BlockPresentation* look = merged.presentation.block(block.name);
    if (look != nullptr && has_own_look(*look)) {
      html += study_block_section(merged, *look, options);
      continue;
    }
    choose_axes(block, merged);
    html +=
        fmt::format("<h2>{}</h2>\n<p>{} points.</p>\n", html_text(block.name), block.rows.size());
    html += options.is_plain ? "" : charts_html(block, merged);
    html += table_html(block, merged);
  }
  if (!merged.missing.empty()) {
    html += fmt::format("<p class=\"bad\">{} points have no result.</p>\n", merged.missing.size());
  }
  return html;
}

}  // namespace flitwise
