// SPDX-License-Identifier: Apache-2.0
// SVG made of strings.
#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "common/ranges.h"

namespace flitwise {
namespace {

constexpr double kWidth = 560, kHeight = 340;
constexpr double kLeft = 62, kRight = 16, kTop = 34, kBottom = 46;
constexpr double kCharacter = 6.6;  // mean width of a letter at 12 px

std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) {
    return fmt::format("{:.4g}M", value / 1e6);
  }
  if (size >= 1e4) {
    return fmt::format("{:.4g}k", value / 1e3);
  }
  return fmt::format("{:.4g}", value);
}

/// One axis: data to pixels.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  bool is_log = false;

  double at(double value) const {
    const double part =
        is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + part * (to - from);
  }
};

struct Bounds {
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  std::set<double> xs;
};

Bounds bounds_of(const LineChart& chart) {
  Bounds bounds;
  for (const std::vector<Series>* all : {&chart.series, &chart.thin}) {
    for (const Series& series : *all) {
      for (const auto& [x, y] : series.points) {
        bounds.x_low = std::min(bounds.x_low, x);
        bounds.x_high = std::max(bounds.x_high, x);
        bounds.y_low = std::min(bounds.y_low, y);
        bounds.y_high = std::max(bounds.y_high, y);
        bounds.xs.insert(x);
      }
    }
  }
  return bounds;
}

/// Powers of two between low and high.
std::vector<double> octaves(double low, double high) {
  std::vector<double> ticks;
  for (double tick = std::exp2(std::ceil(std::log2(low) - 1e-9)); tick <= high; tick *= 2) {
    ticks.push_back(tick);
  }
  return ticks;
}

/// The data's own values where they are few, round numbers elsewhere.
std::vector<double> x_ticks(const LineChart& chart, const Bounds& bounds) {
  constexpr std::size_t kMostOwn = 12;
  if (chart.log_x) {
    return bounds.xs.size() > kMostOwn ? octaves(bounds.x_low, bounds.x_high)
                                       : std::vector<double>(bounds.xs.begin(), bounds.xs.end());
  }
  if (bounds.x_high > bounds.x_low) {
    return nice_ticks(bounds.x_low, bounds.x_high, 7);
  }
  return {bounds.x_low};
}

/// A colour and its name.
std::string legend_entry(std::size_t color, double x, double y, const std::string& name) {
  return fmt::format(
      "<rect class=\"f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\"/>"
      "<text class=\"legend\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
      color, x, y - 9, x + 14, y, html_text(name));
}

struct Legend {
  std::string svg;
  double height = 17;
};

/// In as many lines as it takes.
Legend legend_of(const std::vector<std::string>& names, double chart_width) {
  constexpr double kTopLine = 36;
  Legend legend;
  double x = kLeft;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double width = 22 + kCharacter * static_cast<double>(names[i].size());
    if (x + width > chart_width && x > kLeft) {
      x = kLeft;
      legend.height += 17;
    }
    legend.svg += legend_entry(i, x, kTopLine + legend.height - 17, names[i]);
    x += width;
  }
  return legend;
}

/// A line across the whole chart, and a text at an axis.
std::string line_across(const char* kind, const Scale& x, double y) {
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", kind, x.from, y, x.to);
}
std::string axis_text(const char* anchor, double x, double y, const std::string& text) {
  return fmt::format(
      "<text class=\"axis\" text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", anchor, x, y,
      text);
}

std::string grid(const Scale& x, const Scale& y, const std::vector<double>& x_values,
                 const std::vector<double>& y_values) {
  std::string svg;
  for (const double value : y_values) {
    svg += line_across("grid", x, y.at(value)) +
           axis_text("end", x.from - 6, y.at(value) + 4, number(value));
  }
  for (const double value : x_values) {
    svg += fmt::format("<path class=\"frame\" d=\"M{:.1f} {:.1f}v4\"/>", x.at(value), y.from) +
           axis_text("middle", x.at(value), y.from + 17, number(value));
  }
  return svg + line_across("frame", x, y.from) + "\n";
}

std::string path_of(const Series& series, const Scale& x, const Scale& y, bool in_steps) {
  std::string path;
  for (const auto& [px, py] : series.points) {
    if (in_steps && !path.empty()) {
      path += fmt::format("H{:.1f}V{:.1f}", x.at(px), y.at(py));
    } else {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(px), y.at(py));
    }
  }
  return path;
}

std::string curve(const LineChart& chart, std::size_t color, const Scale& x, const Scale& y) {
  const Series& series = chart.series[color];
  std::string marks;
  for (const auto& [px, py] : series.points) {
    marks += fmt::format(
        "<circle class=\"f{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}: {} {:.6g}, {} "
        "{:.6g}</title></circle>",
        color % kMostSeries, x.at(px), y.at(py), chart.in_steps ? 1.5 : 3.0, html_text(series.name),
        html_text(chart.x_label), px, html_text(chart.y_label), py);
  }
  // Curves that coincide stay visible: an earlier one is wider than what is drawn over it.
  const double width = 1.8 + 0.9 * static_cast<double>(chart.series.size() - 1 - color);
  return fmt::format("<path class=\"curve k{}\" stroke-width=\"{:.1f}\" d=\"{}\"/>{}\n",
                     color % kMostSeries, std::min(width, 6.6),
                     path_of(series, x, y, chart.in_steps), marks);
}

/// Behind the curves: the zero line and the marks on the x axis.
std::string lines_behind(const LineChart& chart, const Scale& x, const Scale& y) {
  std::string svg;
  if (y.low < 0 && y.high > 0) {
    svg += line_across("frame", x, y.at(0)) + "\n";
  }
  for (std::size_t i = 0; i < chart.marks.size(); ++i) {
    const auto& mark = chart.marks[i];
    if (mark && *mark >= x.low && *mark <= x.high) {
      svg += fmt::format(
          "<path class=\"mark k{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"><title>{}: {:.3g}</title></path>\n",
          i % kMostSeries, x.at(*mark), y.from, y.to, html_text(chart.series[i].name), *mark);
    }
  }
  return svg;
}

std::string thin_lines(const LineChart& chart, const Scale& x, const Scale& y) {
  return sum_of(chart.thin, [&](const Series& line) {
    return fmt::format("<path class=\"thin\" d=\"{}\"><title>{}</title></path>\n",
                       path_of(line, x, y, false), html_text(line.name));
  });
}

std::string axis_labels(const std::string& x_label, const std::string& y_label, const Scale& x,
                        const Scale& y, double height) {
  return axis_text("middle", (x.from + x.to) / 2, height - 8, html_text(x_label)) +
         fmt::format(
             "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(13 {:.1f}) "
             "rotate(-90)\">{}</text>\n",
             (y.from + y.to) / 2, html_text(y_label));
}

/// The opening of a figure and its title.
std::string opening(const std::string& title, double width, double height) {
  return fmt::format(
      "<figure class=\"{}\"><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n"
      "<text class=\"title\" x=\"8\" y=\"16\">{}</text>\n",
      width < kWidth   ? "small"
      : width > kWidth ? "wide"
                       : "plain",
      width, height, html_text(title), html_text(title));
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int wanted) {
  const double raw = (high - low) / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * 0.999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double n = std::floor(low / step + 1e-9); n * step <= high + step * 0.999; ++n) {
    ticks.push_back(n * step);
  }
  return ticks;
}

Series mean_series(const std::string& name, const std::vector<std::pair<double, double>>& points) {
  std::map<double, std::pair<double, int>> sums;
  for (const auto& [x, y] : points) {
    auto& [sum, count] = sums[x];
    sum += y;
    ++count;
  }
  Series series{name, {}};
  for (const auto& [x, total] : sums) {
    series.points.emplace_back(x, total.first / total.second);
  }
  return series;
}

std::string LineChart::svg() const {
  const Bounds bounds = bounds_of(*this);
  if (bounds.xs.empty()) {
    return "";
  }
  const auto names = mapped(series, &Series::name);
  // A hair below 0 is no reason for an axis that goes there.
  const bool dips = bounds.y_low < -0.02 * std::max(bounds.y_high, 0.0);
  const double y_low = !from_zero || dips ? bounds.y_low : 0;
  const double y_high = bounds.y_high > y_low ? bounds.y_high : y_low + 1;
  const std::vector<double> y_values = nice_ticks(y_low, y_high, 5);
  const bool has_legend = names.size() > 1 || !names.front().empty();
  const Legend legend = has_legend ? legend_of(names, width) : Legend{"", 0};
  const double top = kTop + legend.height;
  const double height = kHeight + top - kTop;
  const Scale y{y_values.front(), y_values.back(), height - kBottom, top, false};
  const std::vector<double> x_values = x_ticks(*this, bounds);
  Scale x{bounds.x_low, bounds.x_high, kLeft, width - kRight, log_x};
  if (!log_x && x_values.size() > 1) {
    x.low = std::min(x.low, x_values.front());
    x.high = std::max(x.high, x_values.back());
  }
  if (!(x.high > x.low)) {
    x = {bounds.x_low - 1, bounds.x_low + 1, x.from, x.to, false};
  }
  std::string svg = opening(title, width, height) + legend.svg + grid(x, y, x_values, y_values);
  svg += lines_behind(*this, x, y);
  for (std::size_t i = 0; i < series.size(); ++i) {
    svg += curve(*this, i, x, y);
  }
  svg += thin_lines(*this, x, y);
  return svg + axis_labels(x_label, y_label, x, y, height) + "</svg></figure>\n";
}

std::string GroupedBars::svg() const {
  double low = 0, high = 0;
  for (const Group& group : groups) {
    for (const auto& value : group.values) {
      low = std::min(low, value.value_or(0));
      high = std::max(high, value.value_or(0));
    }
  }
  if (groups.empty()) {
    return "";
  }
  high = high > low ? high : low + 1;
  constexpr double kBarsWidth = 1100;
  const std::vector<double> ticks = nice_ticks(low, high, 5);
  const Legend legend = legend_of(series, kBarsWidth);
  const double top = kTop + legend.height;
  const double height = kHeight + top - kTop;
  const Scale y{ticks.front(), ticks.back(), height - kBottom, top, false};
  const Scale x{0, static_cast<double>(groups.size()), kLeft, kBarsWidth - kRight, false};
  std::string svg = opening(title, kBarsWidth, height) + legend.svg + grid(x, y, {}, ticks);
  const double slot = (x.at(1) - x.at(0)) * 0.8 / static_cast<double>(series.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double left = x.at(static_cast<double>(g)) + (x.at(1) - x.at(0)) * 0.1;
    for (std::size_t i = 0; i < groups[g].values.size(); ++i) {
      if (!groups[g].values[i]) {
        continue;
      }
      const double value = *groups[g].values[i];
      const double from = std::min(y.at(value), y.at(0));
      const double bar = left + slot * static_cast<double>(i);
      svg += fmt::format(
          "<rect class=\"f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>"
          "{}, {}: {:.4g}</title></rect><text class=\"value\" text-anchor=\"middle\" x=\"{:.1f}\" "
          "y=\"{:.1f}\">{:.2f}</text>",
          i % kMostSeries, bar + 1, from, std::max(slot - 2, 1.0), std::abs(y.at(value) - y.at(0)),
          html_text(groups[g].name), html_text(series[i]), value, bar + slot / 2,
          value < 0 ? from + std::abs(y.at(value) - y.at(0)) + 11 : from - 3, value);
    }
    svg += axis_text("middle", x.at(static_cast<double>(g) + 0.5), height - kBottom + 18,
                     html_text(groups[g].name));
  }
  svg += line_across("frame", x, y.at(0)) + "\n";
  return svg + axis_labels("", y_label, x, y, height) + "</svg></figure>\n";
}

std::string StackedBars::svg() const {
  if (rows.empty()) {
    return "";
  }
  double most = 0;
  std::size_t longest = 0;
  for (const Row& row : rows) {
    most = std::max(most, std::accumulate(row.values.begin(), row.values.end(), 0.0));
    longest = std::max(longest, row.name.size());
  }
  constexpr double kWide = 1100, kBar = 26;
  const double left = 16 + kCharacter * static_cast<double>(longest);
  const double height = 62 + kBar * static_cast<double>(rows.size());
  std::string svg = opening(title, kWide, height);
  double legend_x = 8;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    svg += legend_entry(i, legend_x, 38, parts[i]);
    legend_x += 28 + kCharacter * static_cast<double>(parts[i].size());
  }
  double y = 52;
  for (const Row& row : rows) {
    svg += fmt::format("<text x=\"8\" y=\"{:.1f}\">{}</text>", y + 14, html_text(row.name));
    double x = left;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const double width = most > 0 ? row.values[i] / most * (kWide - left - 8) : 0;
      if (width > 0) {
        svg += fmt::format(
            "<rect class=\"f{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\">"
            "<title>{} {}: {:.2f} {}</title></rect>",
            i, x, y, width, kBar - 6, html_text(row.name), html_text(parts[i]), row.values[i],
            html_text(unit));
      }
      x += width;
    }
    svg += "\n";
    y += kBar;
  }
  return svg + "</svg></figure>\n";
}

}  // namespace flitwise
