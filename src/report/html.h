// SPDX-License-Identifier: Apache-2.0
/// The pieces of a self-contained HTML page: text, tables, the page around them, and charts as
/// specifications of Vega-Lite, which the page draws with the libraries that it carries. The n-th
/// series always has the n-th colour.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flitwise {

/// Text as HTML shows it: & < > " and ' are escaped.
std::string html_text(const std::string& text);

/// JSON as it stands in a script element: no < can begin a tag there.
std::string script_text(const std::string& json);

/// A table; columns of numbers are right-aligned.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<std::string> header) : header_(std::move(header)) {}
  void add_row(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
    ids_.emplace_back();
  }
  /// The row of a point: its charts lead to it, and it leads to the result in the folder `points`,
  /// if there is one.
  void add_point(std::vector<std::string> cells, const std::string& id, const std::string& points) {
    rows_.push_back(std::move(cells));
    ids_.push_back(id);
    points_ = points;
  }
  bool is_empty() const { return rows_.empty(); }
  std::size_t rows() const { return rows_.size(); }
  std::string html() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::string> ids_;  // of points; empty: none
  std::string points_;
};

/// Content behind a line that can be clicked open.
std::string html_details(const std::string& summary, const std::string& content);

/// A table with a row a point of a sweep; a long one has to be clicked open.
std::string table_of_points(const HtmlTable& table);

/// A page that needs no other file and no network, and no script but for its charts; light or dark
/// as the reader's system.
struct HtmlPage {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< the head: version, seed ...
  std::string body;
  std::string html() const;
};

inline constexpr std::size_t kMostSeries = 8;

struct Series {
  struct Point {
    double x = 0, y = 0;
    std::optional<double> ci95 = {};  ///< half width of the 95 % interval of y, where it is known
    std::string id = {};              ///< of the one row that it stands for; empty: several
  };
  std::string name;
  std::vector<Point> points;  ///< sorted by x
};

/// Of points that are not sorted: the mean over those with the same x.
Series mean_series(const std::string& name, const std::vector<Series::Point>& points);

/// Curves with a marker at each point, and bands where intervals are known. With log_x every x must
/// be above 0.
struct LineChart {
  std::string title;
  std::string link;     ///< charts of a page with the same word are zoomed together; empty: alone
  std::string x_label;  ///< with its unit: "payload, B"
  std::string y_label;
  bool is_small = false;
  bool log_x = false;
  bool from_zero = true;                             ///< the y axis starts at 0
  bool in_steps = false;                             ///< each y holds up to the next x
  std::optional<std::pair<double, double>> y_range;  ///< of all charts that it stands beside
  std::vector<Series> series;
  std::vector<Series> thin;  ///< thin lines without markers: what theory says
  /// Vertical marks on the x axis; the n-th has the colour of the n-th series.
  std::vector<std::optional<double>> marks;

  bool has_intervals() const;
  /// A figure element; empty when no series has a point.
  std::string html() const;
};

/// Gives charts that stand beside each other the same y axis.
void share_y_axis(std::vector<LineChart>& charts);

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

  std::string html() const;
};

/// What follows one after the other: a bar a step, each beginning where the one above ends.
struct Waterfall {
  std::string title;
  std::string unit;  ///< of the steps: "ns"
  struct Step {
    std::string name;
    double length = 0;
  };
  std::vector<Step> steps;

  std::string html() const;  ///< empty without steps
};

/// A figure over two axes, as colours.
struct HeatMap {
  std::string title;
  std::string link;  ///< as LineChart::link
  std::string x_label, y_label;
  std::string figure_label;  ///< with its unit
  struct Cell {
    std::string x, y;
    double value = 0;
  };
  std::vector<Cell> cells;  ///< in the order of the axes

  std::string html() const;  ///< empty without cells
};

/// Curves over many moments, which are zoomed together with those of all charts of this kind.
struct TimeChart {
  std::string title;
  std::string unit;
  std::vector<double> times;  ///< ns, rising
  struct Track {
    std::string name;
    std::vector<std::optional<double>> values;  ///< one a time
  };
  std::vector<Track> tracks;

  std::string html() const;  ///< empty without tracks
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

  std::string html() const;
};

}  // namespace flitwise
