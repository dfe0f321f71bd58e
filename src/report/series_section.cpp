// SPDX-License-Identifier: Apache-2.0
// A trace of figures over time as charts that are zoomed together.
#include <fmt/format.h>

#include <boost/algorithm/string/split.hpp>
#include <cstdlib>
#include <map>
#include <sstream>

#include "common/input_file.h"
#include "common/ranges.h"
#include "flitwise/error.h"
#include "report/html.h"
#include "report/report.h"
#include "trace/trace_sink.h"

namespace flitwise {
namespace {

/// A figure of all tracks over time.
struct TimedFigure {
  const char* title;
  const char* unit;
  std::size_t column;
  double factor;
};
constexpr TimedFigure kCharts[] = {{"Goodput", "Gb/s", 4, 1},
                                   {"Wire busy", "%", 5, 100},
                                   {"Sent again", "units", 7, 1},
                                   {"Damaged or lost", "units", 8, 1},
                                   {"Latency of what ended then", "ns", 9, 1}};

/// Spans of time, and by track a value of each figure in each span; none: an empty cell.
struct Spans {
  std::vector<double> times;
  std::map<std::string, std::vector<std::vector<std::optional<double>>>> tracks;
};

Spans spans_of(const std::string& path, const std::string& text) {
  constexpr std::size_t kColumns = 10;
  Spans table;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  for (int number = 2; std::getline(lines, line); ++number) {
    std::vector<std::string> cells;
    boost::split(cells, line, [](char c) { return c == ','; });
    if (cells.size() != kColumns) {
      throw ConfigError(
          {{path, number, 1, "",
            fmt::format("{} cells; expected the {} of a trace `series`", cells.size(), kColumns)}});
    }
    const double from = std::strtod(cells[0].c_str(), nullptr);
    if (table.times.empty() || table.times.back() != from) {
      table.times.push_back(from);
    }
    auto& figures = table.tracks[cells[2] + " " + cells[3]];
    figures.resize(kColumns);
    for (std::size_t i = 0; i < kColumns; ++i) {
      figures[i].resize(table.times.size());
      if (!cells[i].empty()) {
        figures[i].back() = std::strtod(cells[i].c_str(), nullptr);
      }
    }
  }
  return table;
}

}  // namespace

bool is_series(const std::string& path) {
  const std::string front = kSeriesColumns;
  return what_stands_at(path) == Standing::kRegularFile &&
         read_own_file(path).text.compare(0, front.size(), front) == 0;
}

std::string series_section(const std::string& path, const ReportOptions& options) {
  const Spans table = spans_of(path, read_own_file(path).text);
  std::string html =
      fmt::format("<h2>{}</h2>\n<p>{} spans of time.</p>\n", html_text(path), table.times.size());
  if (options.is_plain) {
    return html +
           "<p>Figures over time are a chart, which a plain page has not; the file has them "
           "as a table.</p>\n";
  }
  html += "<div class=\"charts\">\n";
  for (const TimedFigure& chart : kCharts) {
    TimeChart drawn{chart.title, chart.unit, table.times, {}};
    for (const auto& [name, figures] : table.tracks) {
      TimeChart::Track track{name, figures[chart.column]};
      bool says_something = false;
      for (std::optional<double>& value : track.values) {
        value = value ? std::optional(*value * chart.factor) : std::nullopt;
        says_something = says_something || value.value_or(0) != 0;
      }
      if (says_something) {
        drawn.tracks.push_back(std::move(track));
      }
    }
    html += drawn.html();
  }
  return html + "</div>\n";
}

}  // namespace flitwise
