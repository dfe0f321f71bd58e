// SPDX-License-Identifier: Apache-2.0
// Plots and findings that a study asks for.
#include <fmt/format.h>

#include <boost/range/algorithm_ext/push_back.hpp>

#include "common/ranges.h"
#include "report/html.h"
#include "report/report.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

/// A column for people: the figure's title or the last word of a key, and the unit.
std::string column_label(const MergedSweep& merged, const BlockPresentation& block,
                         const std::string& column) {
  if (const FigureSpec* figure = block.figure(column)) {
    return figure->label();
  }
  const std::string unit = merged.unit_of(column);
  return column.substr(column.rfind('.') + 1) + (unit.empty() ? "" : ", " + unit);
}

std::string series_name(const MergedSweep& merged, const Json& row, const std::string& column) {
  return column.empty() ? "" : point_text(merged, row, {column});
}

/// Octaves read better on a logarithmic axis.
bool wants_log(const LineChart& chart) {
  double low = INFINITY, high = 0;
  for (const Series& series : chart.series) {
    for (const Series::Point& point : series.points) {
      low = std::min(low, point.x);
      high = std::max(high, point.x);
    }
  }
  return low > 0 && high / low >= 16;
}

std::vector<std::string> series_columns(const PlotSpec& plot) {
  return plot.series.empty() ? std::vector<std::string>{} : std::vector<std::string>{plot.series};
}

LineChart line_chart(const MergedSweep& merged, const BlockPresentation& block,
                     const PlotSpec& plot, const RowGroup& facet, bool is_small) {
  LineChart chart;
  chart.is_small = is_small;
  const std::string where = point_text(merged, *facet.rows.front(), plot.facets);
  chart.title = plot.title + (where.empty() ? "" : ": " + where);
  chart.x_label = column_label(merged, block, plot.x);
  chart.y_label = column_label(merged, block, plot.figure);
  chart.in_steps = plot.kind == "steps";
  for (const RowGroup& group : groups_by(facet.rows, series_columns(plot))) {
    Series series = mean_series(series_name(merged, *group.rows.front(), plot.series),
                                chart_points(group.rows, plot.x, plot.figure));
    if (series.points.empty()) {
      continue;
    }
    chart.series.push_back(std::move(series));
    chart.marks.push_back(plot.mark.empty() ? std::nullopt : mean_of(group.rows, plot.mark));
  }
  for (const std::string& name : plot.thin) {
    chart.thin.push_back(
        mean_series(column_label(merged, block, name), chart_points(facet.rows, plot.x, name)));
  }
  chart.log_x = wants_log(chart);
  chart.from_zero = !chart.in_steps;
  return chart;
}

/// Charts beside each other have the same y axis and are zoomed together.
std::string line_charts(const MergedSweep& merged, const BlockPresentation& block,
                        const PlotSpec& plot, const std::vector<RowGroup>& facets) {
  std::vector<LineChart> charts = mapped<LineChart>(facets, [&](const RowGroup& facet) {
    return line_chart(merged, block, plot, facet, facets.size() % 3 == 0);
  });
  if (charts.size() > 1) {
    share_y_axis(charts);
    for (LineChart& chart : charts) {
      chart.link = block.name + ": " + plot.title;
    }
  }
  return sum_of(charts, [](const LineChart& chart) { return chart.html(); });
}

std::string bar_chart(const MergedSweep& merged, const BlockPresentation& block,
                      const PlotSpec& plot, const RowGroup& facet) {
  GroupedBars bars;
  const std::string where = point_text(merged, *facet.rows.front(), plot.facets);
  bars.title = plot.title + (where.empty() ? "" : ": " + where);
  bars.y_label = column_label(merged, block, plot.figure);
  const std::vector<RowGroup> series = groups_by(facet.rows, series_columns(plot));
  for (const RowGroup& one : series) {
    bars.series.push_back(series_name(merged, *one.rows.front(), plot.series));
  }
  for (const RowGroup& group : groups_by(facet.rows, {plot.x})) {
    GroupedBars::Group bar{point_text(merged, *group.rows.front(), {plot.x}), {}};
    for (const RowGroup& one : series) {
      const Rows both =
          those(group.rows, [&one](const Json* row) { return contains(one.rows, row); });
      bar.values.push_back(mean_of(both, plot.figure));
    }
    bars.groups.push_back(std::move(bar));
  }
  return bars.html();
}

std::string plot_html(const MergedSweep& merged, const BlockPresentation& block,
                      const PlotSpec& plot) {
  const Rows rows = those(rows_of(merged, block.name),
                          [&](const Json* row) { return is_selected(*row, plot.where); });
  const std::vector<RowGroup> facets = groups_by(rows, plot.facets);
  return plot.kind == "bars"
             ? sum_of(facets,
                      [&](const RowGroup& facet) { return bar_chart(merged, block, plot, facet); })
             : line_charts(merged, block, plot, facets);
}

/// Plots in rows: one of several charts has rows of its own, single charts share them.
std::string plots_html(const MergedSweep& merged, const BlockPresentation& block) {
  std::string html;
  std::string dashed;
  const std::string row_end = "</div>\n";
  const std::string row_begin = "<div class=\"charts\">\n";
  bool was_single = false;
  for (const PlotSpec& plot : block.plots) {
    const bool is_single = plot.facets.empty();
    if (!is_single || !was_single) {
      html += html.empty() ? row_begin : row_end + row_begin;
    }
    was_single = is_single;
    html += plot_html(merged, block, plot);
    for (const std::string& name : plot.thin) {
      dashed += (dashed.empty() ? "" : "; ") + html_text(column_label(merged, block, name));
    }
  }
  html += html.empty() ? "" : row_end;
  return html + (dashed.empty() ? "" : "<p class=\"note\">Dashed: " + dashed + ".</p>\n");
}

std::string findings_html(const MergedSweep& merged, const BlockPresentation& block) {
  std::string items;
  for (const auto& part : {verdict_sentences(merged, block), crossing_sentences(merged, block)}) {
    items += sum_of(
        part, [](const std::string& sentence) { return "<li>" + html_text(sentence) + "</li>\n"; });
  }
  return items.empty() ? "" : "<ul class=\"findings\">\n" + items + "</ul>\n";
}

std::string block_table(const MergedSweep& merged, const BlockPresentation& block,
                        const std::string& points) {
  const std::vector<std::string> columns = telling_columns(merged, block);
  std::vector<std::string> shown = columns;
  boost::range::push_back(shown, mapped(block.figures, &FigureSpec::name));
  HtmlTable table(mapped(
      shown, [&](const std::string& column) { return column_label(merged, block, column); }));
  for (const Json* row : rows_of(merged, block.name)) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      const auto cell = row->find(column);
      cells.push_back(cell == row->end() ? "-" : cell_text(*cell));
    }
    for (const FigureSpec& figure : block.figures) {
      cells.push_back(figure_text(*row, figure));
    }
    table.add_point(cells, row->value("id", ""), points);
  }
  return table_of_points(table);
}

}  // namespace

std::vector<Series::Point> chart_points(const Rows& rows, const std::string& x,
                                        const std::string& y) {
  std::vector<Series::Point> points;
  for (const Json* row : rows) {
    const auto px = number_at(*row, x), py = number_at(*row, y);
    if (px && py) {
      points.push_back({*px, *py,
                        has_interval(*row, y) ? number_at(*row, interval_column(y)) : std::nullopt,
                        row->value("id", "")});
    }
  }
  return points;
}

bool has_own_look(const BlockPresentation& block) {
  return !block.plots.empty() || !block.figures.empty() || !block.verdict.figure.empty() ||
         !block.crossing.figures.empty();
}

std::string study_block_section(const MergedSweep& merged, const BlockPresentation& block,
                                const ReportOptions& options, const std::string& points) {
  if (rows_of(merged, block.name).empty()) {
    return "";
  }
  std::string html = fmt::format("<h2 id=\"{0}\">{1}</h2>\n", html_text(block.name),
                                 html_text(block.title.empty() ? block.name : block.title));
  html += block.about.empty() ? "" : "<p>" + html_text(block.about) + "</p>\n";
  html += findings_html(merged, block);
  html += options.is_plain
              ? ""
              : plots_html(merged, block) +
                    cause_bars(merged, rows_of(merged, block.name), telling_columns(merged, block));
  return html + block_table(merged, block, points);
}

}  // namespace flitwise
