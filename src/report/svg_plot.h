// SPDX-License-Identifier: Apache-2.0
/// Line charts and stacked bars as inline SVG. Colours are CSS classes of the report page, so that
/// light and dark work; the n-th series always has the n-th colour.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flitwise {

inline constexpr std::size_t kMostSeries = 8;

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x, y; sorted by x
};

/// Curves with a marker at each point. With log_x every x must be above 0.
struct LineChart {
  std::string title;
  std::string x_label;  ///< with its unit: "payload, B"
  std::string y_label;
  bool log_x = false;
  bool from_zero = true;  ///< the y axis starts at 0
  std::vector<Series> series;

  /// A figure element; empty when no series has a point.
  std::string svg() const;
};

/// One horizontal bar a row, made of parts; all rows share the scale.
struct StackedBars {
  std::string title;
  std::string unit;  ///< of the values: "%"
  std::vector<std::string> parts;
  struct Row {
    std::string name;
    std::vector<double> values;  ///< one a part
  };
  std::vector<Row> rows;

  std::string svg() const;
};

/// At most `wanted` + 2 round numbers that span low to high, evenly spaced by 1, 2 or 5 times a
/// power of ten. REQUIRES: high > low.
std::vector<double> nice_ticks(double low, double high, int wanted);

}  // namespace flitwise
