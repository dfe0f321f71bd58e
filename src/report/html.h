// SPDX-License-Identifier: Apache-2.0
/// The pieces of a self-contained HTML page: text, tables, the page around them, and charts as
/// inline SVG. Colours are CSS classes of the page, so that light and dark work; the n-th series
/// always has the n-th colour.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flitwise {

/// Text as HTML shows it: & < > " and ' are escaped.
std::string html_text(const std::string& text);

/// A table; columns of numbers are right-aligned.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<std::string> header) : header_(std::move(header)) {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool is_empty() const { return rows_.empty(); }
  std::size_t rows() const { return rows_.size(); }
  std::string html() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// Content behind a line that can be clicked open.
std::string html_details(const std::string& summary, const std::string& content);

/// A table with a row a point of a sweep; a long one has to be clicked open.
std::string table_of_points(const HtmlTable& table);

/// A page that needs no other file, no network and no script; light or dark as the reader's system.
struct HtmlPage {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< the head: version, seed ...
  std::string body;
  std::string html() const;
};

/// The charts of a page, in order: each is an SVG image that stands by itself.
std::vector<std::string> charts_of(const std::string& page);

inline constexpr std::size_t kMostSeries = 8;

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x, y; sorted by x
};

/// Of points that are not sorted: the mean over those with the same x (seeds).
Series mean_series(const std::string& name, const std::vector<std::pair<double, double>>& points);

/// Curves with a marker at each point. With log_x every x must be above 0.
struct LineChart {
  double width = 560;
  std::string title;
  std::string x_label;  ///< with its unit: "payload, B"
  std::string y_label;
  bool log_x = false;
  bool from_zero = true;  ///< the y axis starts at 0
  bool in_steps = false;  ///< each y holds up to the next x
  std::vector<Series> series;
  std::vector<Series> thin;  ///< thin lines without markers: what theory says
  /// Vertical marks on the x axis; the n-th has the colour of the n-th series.
  std::vector<std::optional<double>> marks;

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

/// Bars side by side in groups, up or down from 0.
struct GroupedBars {
  std::string title;
  std::string y_label;  ///< with its unit
  std::vector<std::string> series;
  struct Group {
    std::string name;
    std::vector<std::optional<double>> values;  ///< one a series
  };
  std::vector<Group> groups;

  std::string svg() const;
};

/// At most `wanted` + 2 round numbers that span low to high, evenly spaced by 1, 2 or 5 times a
/// power of ten. REQUIRES: high > low.
std::vector<double> nice_ticks(double low, double high, int wanted);

}  // namespace flitwise
