// SPDX-License-Identifier: Apache-2.0
// A sweep as HTML: per block small charts over its most numerous numeric axis, then the table.
#include <fmt/format.h>

#include "common/ranges.h"
#include "report/html.h"
#include "report/report.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

struct Figure {
  const char* title;
  const char* y_label;
  std::vector<const char*> columns;  ///< the first one that is there and above 0 counts
  double factor;
};

const std::vector<Figure> kFigures = {
    {"Link efficiency", "payload / wire, %", {"up_link_efficiency"}, 100},
    {"Goodput", "Gb/s", {"up_goodput_gbps", "down_goodput_gbps"}, 1},
    {"Median latency", "ns", {"dma_write_p50_ns", "dma_read_p50_ns"}, 1},
    {"99th percentile latency", "ns", {"dma_write_p99_ns", "dma_read_p99_ns"}, 1},
};

std::string plain_text(const Json& value) {
  return value.is_null() ? "null" : cell_text(value);
}

/// One block of the sweep: its rows and what varies in it.
struct BlockView {
  std::string name;
  Rows rows;
  std::string x = {};                    ///< axis of the charts; empty: none
  std::string series = {};               ///< axis that makes the curves; empty: one curve
  std::vector<std::string> facets = {};  ///< axes whose combinations get a chart each
};

std::size_t distinct(const BlockView& block, const std::string& axis) {
  return groups_by(block.rows, {axis}).size();
}

void choose_axes(BlockView& block, const MergedSweep& merged) {
  const std::vector<std::string> varying =
      those(merged.axes, [&](const std::string& axis) { return distinct(block, axis) > 1; });
  const auto most_values = [&](const auto& suits) {
    std::string most;
    for (const std::string& axis : varying) {
      if (suits(axis) && (most.empty() || distinct(block, axis) > distinct(block, most))) {
        most = axis;
      }
    }
    return most;
  };
  block.x = most_values([&](const std::string& axis) {
    return all_of(block.rows, [&](const Json* row) { return row->at(axis).is_number(); });
  });
  // What the study compares makes the curves; else the axis with most values that still fits.
  const bool compares = contains(varying, "link.identity");
  block.series = compares ? "link.identity" : most_values([&](const std::string& axis) {
    return axis != block.x && distinct(block, axis) <= kMostSeries;
  });
  block.facets = those(
      varying, [&](const std::string& axis) { return axis != block.x && axis != block.series; });
}

std::optional<double> figure_of(const Json& row, const Figure& figure) {
  for (const char* column : figure.columns) {
    if (const auto value = number_at(row, column); value && *value > 0) {
      return *value * figure.factor;
    }
  }
  return std::nullopt;
}

/// Half width of the 95 % interval of figure_of, where the row has several seeds.
std::optional<double> interval_of(const Json& row, const Figure& figure) {
  for (const char* column : figure.columns) {
    if (const auto value = number_at(row, column); value && *value > 0) {
      const auto half =
          has_interval(row, column) ? number_at(row, interval_column(column)) : std::nullopt;
      return half ? std::optional(*half * figure.factor) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::string unit_of(const MergedSweep& merged, const std::string& axis) {
  const std::string unit = merged.unit_of(axis);
  return unit.empty() ? "" : ", " + unit;
}

/// Powers of something read better on a logarithmic axis.
bool wants_log(const Rows& rows, const std::string& axis) {
  const auto values =
      mapped<double>(rows, [&](const Json* row) { return row->at(axis).get<double>(); });
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low > 0 && *high / *low >= 16;
}

/// One chart: the mean over seeds of a figure, a curve per value of the series axis.
LineChart chart(const BlockView& block, const MergedSweep& merged, const Figure& figure,
                const Rows& rows, const std::string& facet) {
  LineChart line;
  line.title = figure.title + (facet.empty() ? "" : ": " + facet);
  line.x_label = block.x + unit_of(merged, block.x);
  line.y_label = figure.y_label;
  line.log_x = wants_log(block.rows, block.x);
  line.link = block.name + ": " + figure.title;
  const Rows with_value =
      those(rows, [&](const Json* row) { return figure_of(*row, figure).has_value(); });
  const bool is_one = block.series.empty();
  for (const RowGroup& group :
       groups_by(with_value, is_one ? std::vector<std::string>{} : std::vector{block.series})) {
    const auto points = mapped<Series::Point>(group.rows, [&](const Json* row) {
      return Series::Point{row->at(block.x).get<double>(), *figure_of(*row, figure),
                           interval_of(*row, figure), row->value("id", "")};
    });
    line.series.push_back(
        mean_series(is_one ? "" : plain_text(group.rows.front()->at(block.series)), points));
  }
  return line;
}

/// "payload 64, preset gen5x16"
std::string facet_text(const BlockView& block, const Json& row) {
  std::string facet;
  for (const std::string& axis : block.facets) {
    facet += (facet.empty() ? "" : ", ") + axis.substr(axis.rfind('.') + 1) + " " +
             plain_text(row.at(axis));
  }
  return facet;
}

std::string charts_html(const BlockView& block, const MergedSweep& merged) {
  constexpr std::size_t kMostFacets = 8;
  if (block.x.empty()) {
    return "";
  }
  std::vector<RowGroup> facets = groups_by(block.rows, block.facets);
  std::string html;
  if (facets.size() > kMostFacets) {
    html += fmt::format(
        "<p>Charts show the first {} of {} combinations of {}; the table has all.</p>\n",
        kMostFacets, facets.size(), html_text(fmt::format("{}", fmt::join(block.facets, ", "))));
    facets.resize(kMostFacets);
  }
  if (!block.series.empty()) {
    html += fmt::format("<p>Curves: {}{}.</p>\n", html_text(block.series),
                        unit_of(merged, block.series));
  }
  html += "<div class=\"charts\">\n";
  const auto charts = mapped<std::vector<LineChart>>(kFigures, [&](const Figure& figure) {
    auto of_figure = mapped<LineChart>(facets, [&](const RowGroup& facet) {
      return chart(block, merged, figure, facet.rows, facet_text(block, *facet.rows.front()));
    });
    share_y_axis(of_figure);
    return of_figure;
  });
  for (std::size_t facet = 0; facet < facets.size(); ++facet) {
    html += sum_of(charts, [facet](const auto& of_figure) { return of_figure[facet].html(); });
  }
  return html + "</div>\n";
}

/// Figures over two numeric axes with some values each, a map per value of the others.
std::string heat_maps(const BlockView& block, const MergedSweep& merged) {
  constexpr std::size_t kFewest = 3, kMostMaps = 4;
  std::string y;
  for (const std::string& axis : merged.axes) {
    const bool is_numeric =
        all_of(block.rows, [&](const Json* row) { return row->at(axis).is_number(); });
    if (axis != block.x && is_numeric && distinct(block, axis) >= kFewest &&
        (y.empty() || distinct(block, axis) > distinct(block, y))) {
      y = axis;
    }
  }
  if (y.empty() || block.x.empty() || distinct(block, block.x) < kFewest) {
    return "";
  }
  BlockView rest = block;
  rest.facets = those(merged.axes, [&](const std::string& axis) {
    return axis != block.x && axis != y && distinct(block, axis) > 1;
  });
  std::string html;
  std::vector<RowGroup> maps = groups_by(block.rows, rest.facets);
  maps.resize(std::min(maps.size(), kMostMaps));
  for (const RowGroup& group : maps) {
    for (const Figure& figure : {kFigures[1], kFigures[3]}) {
      const std::string facet = facet_text(rest, *group.rows.front());
      HeatMap map;
      map.title = figure.title + (facet.empty() ? "" : ": " + facet);
      map.x_label = block.x + unit_of(merged, block.x);
      map.y_label = y + unit_of(merged, y);
      map.figure_label = figure.y_label;
      for (const Json* row : group.rows) {
        if (const auto value = figure_of(*row, figure)) {
          map.cells.push_back({plain_text(row->at(block.x)), plain_text(row->at(y)), *value});
        }
      }
      html += map.html();
    }
  }
  return html.empty() ? "" : "<div class=\"charts\">\n" + html + "</div>\n";
}

std::string table_html(const BlockView& block, const MergedSweep& merged,
                       const std::string& points) {
  std::vector<std::string> header =
      mapped(merged.axes, [&](const std::string& axis) { return axis + unit_of(merged, axis); });
  header.emplace_back("seeds");
  for (const Figure& figure : kFigures) {
    header.push_back(std::string(figure.title) + ", " + figure.y_label);
  }
  HtmlTable table(header);
  for (const Json* row : block.rows) {
    std::vector<std::string> cells =
        mapped(merged.axes, [&](const std::string& axis) { return plain_text(row->at(axis)); });
    cells.push_back(plain_text(row->value("seeds", Json(1))));
    for (const Figure& figure : kFigures) {
      const auto value = figure_of(*row, figure);
      cells.push_back(value ? fmt::format("{:.2f}", *value) : "-");
    }
    table.add_point(cells, row->value("id", ""), points);
  }
  return table_of_points(table);
}

}  // namespace

std::string sweep_section(const MergedSweep& merged, const ReportOptions& options,
                          const std::string& points) {
  const auto all = mapped<const Json*>(merged.rows, [](const Json& row) { return &row; });
  std::string html;
  for (const RowGroup& group : groups_by(all, {"block"})) {
    BlockView block{group.label, group.rows};
    const BlockPresentation* look = merged.presentation.block(block.name);
    if (look != nullptr && has_own_look(*look)) {
      html += study_block_section(merged, *look, options, points);
      continue;
    }
    choose_axes(block, merged);
    html +=
        fmt::format("<h2>{}</h2>\n<p>{} points.</p>\n", html_text(block.name), block.rows.size());
    const std::vector<std::string> varying =
        those(merged.axes, [&](const std::string& axis) { return distinct(block, axis) > 1; });
    html += options.is_plain ? ""
                             : charts_html(block, merged) + heat_maps(block, merged) +
                                   cause_bars(merged, block.rows, varying);
    html += table_html(block, merged, points);
  }
  if (!merged.missing.empty()) {
    html += fmt::format("<p class=\"bad\">{} points have no result.</p>\n", merged.missing.size());
  }
  return html;
}

}  // namespace flitwise
