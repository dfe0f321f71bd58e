// SPDX-License-Identifier: Apache-2.0
// Charts as specifications of Vega-Lite.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/ranges.h"
#include "report/html.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

/// `kind`: classes of the figure; `link`: charts of the same word are zoomed together.
std::string figure_html(const std::string& title, const std::string& kind, const std::string& link,
                        const std::string& about, Json spec) {
  spec["title"] = title;
  spec["description"] = title + ": " + about;
  spec["width"] = "container";
  spec["autosize"] = {{"type", "fit-x"}, {"contains", "padding"}};
  return fmt::format(
      "<figure class=\"chart{}\" tabindex=\"0\" aria-label=\"{}\"{}><div class=\"plot\"></div>"
      "<script type=\"application/json\">{}</script></figure>\n",
      kind, html_text(title + ": " + about),
      link.empty() ? "" : fmt::format(" data-link=\"{}\"", html_text(link)),
      script_text(spec.dump()));
}

/// A colour a name, in the order of the names, so that a name has the same colour in each chart.
Json color_of(const std::vector<std::string>& names) {
  Json color = {{"field", "s"}, {"type", "nominal"}, {"scale", {{"domain", names}}}};
  const bool is_one = names.size() == 1 && names.front().empty();
  color["legend"] = is_one ? Json() : Json{{"title", nullptr}};
  return color;
}

/// A click on a name in the legend shows its series alone, more clicks add others.
Json legend_choice() {
  return {{"name", "shown"},
          {"select", {{"type", "point"}, {"fields", {"s"}}, {"toggle", "true"}}},
          {"bind", "legend"}};
}

Json faded_unless_shown(double opacity) {
  return {{"condition", {{"param", "shown"}, {"value", opacity}}}, {"value", 0.06}};
}

Json values_of(const std::vector<Series>& all) {
  Json values = Json::array();
  for (const Series& series : all) {
    for (const Series::Point& point : series.points) {
      Json& value = values.emplace_back(Json{{"x", point.x}, {"y", point.y}, {"s", series.name}});
      if (point.ci95) {
        value["low"] = point.y - *point.ci95;
        value["high"] = point.y + *point.ci95;
      }
      if (!point.id.empty()) {
        value["id"] = point.id;
      }
    }
  }
  return values;
}

std::vector<std::string> names_of(const std::vector<Series>& all) {
  return mapped(all, &Series::name);
}

Json line_layer(const LineChart& chart) {
  Json mark = {{"type", "line"}, {"strokeWidth", 2}};
  if (chart.in_steps) {
    mark["interpolate"] = "step-after";
  }
  return {{"params",
           {legend_choice(),
            {{"name", "zoom"}, {"select", {{"type", "interval"}}}, {"bind", "scales"}}}},
          {"mark", mark},
          {"encoding", {{"opacity", faded_unless_shown(1)}}}};
}

Json point_layer(const LineChart& chart) {
  Json tooltip = {{{"field", "s"}, {"title", "curve"}},
                  {{"field", "x"}, {"title", chart.x_label}},
                  {{"field", "y"}, {"title", chart.y_label}, {"format", ".5~g"}}};
  if (chart.has_intervals()) {
    tooltip.push_back({{"field", "low"}, {"title", "95 % from"}, {"format", ".5~g"}});
    tooltip.push_back({{"field", "high"}, {"title", "95 % to"}, {"format", ".5~g"}});
  }
  return {{"mark", {{"type", "point"}, {"filled", true}, {"size", 48}}},
          {"encoding",
           {{"shape",
             {{"field", "s"},
              {"type", "nominal"},
              {"scale", {{"domain", names_of(chart.series)}}},
              {"legend", color_of(names_of(chart.series))["legend"]}}},
            {"opacity", faded_unless_shown(1)},
            {"tooltip", tooltip}}}};
}

Json band_layer(Json y) {
  y["field"] = "low";
  return {
      {"transform", {{{"filter", "isValid(datum.low)"}}}},
      {"mark", {{"type", "area"}}},
      {"encoding", {{"y", y}, {"y2", {{"field", "high"}}}, {"opacity", faded_unless_shown(0.2)}}}};
}

Json thin_layer(const LineChart& chart) {
  return {{"data", {{"values", values_of(chart.thin)}}},
          {"mark", {{"type", "line"}, {"strokeWidth", 1}, {"strokeDash", {5, 3}}}},
          {"encoding", {{"color", {{"value", "gray"}}}, {"detail", {{"field", "s"}}}}}};
}

Json mark_layer(const LineChart& chart) {
  Json values = Json::array();
  for (std::size_t i = 0; i < chart.marks.size() && i < chart.series.size(); ++i) {
    if (chart.marks[i]) {
      values.push_back({{"x", *chart.marks[i]}, {"s", chart.series[i].name}});
    }
  }
  return {{"data", {{"values", values}}},
          {"mark", {{"type", "rule"}, {"strokeDash", {2, 3}}, {"strokeWidth", 1.5}}},
          {"encoding", {{"y", nullptr}, {"opacity", faded_unless_shown(1)}}}};
}

Json x_of(const LineChart& chart) {
  Json x = {{"field", "x"}, {"type", "quantitative"}, {"title", chart.x_label}};
  // Markers at the ends are not cut.
  constexpr int kPadding = 6;
  x["scale"] = chart.log_x ? Json{{"type", "log"}, {"base", 2}, {"nice", false}}
                           : Json{{"zero", false}, {"nice", false}};
  x["scale"]["padding"] = kPadding;
  x["axis"] = {{"format", ",~r"}, {"grid", false}};
  return x;
}

}  // namespace

Series mean_series(const std::string& name, const std::vector<Series::Point>& points) {
  std::map<double, std::vector<const Series::Point*>> by_x;
  for (const Series::Point& point : points) {
    by_x[point.x].push_back(&point);
  }
  Series series{name, {}};
  for (const auto& [x, same] : by_x) {
    double sum = 0;
    for (const Series::Point* point : same) {
      sum += point->y;
    }
    // Of points that differ in more than the seed no interval is known.
    const bool is_one = same.size() == 1;
    series.points.push_back({x, sum / static_cast<double>(same.size()),
                             is_one ? same.front()->ci95 : std::nullopt,
                             is_one ? same.front()->id : ""});
  }
  return series;
}

bool LineChart::has_intervals() const {
  return any_of(series, [](const Series& one) {
    return any_of(one.points, [](const Series::Point& point) { return point.ci95.has_value(); });
  });
}

std::string LineChart::html() const {
  if (all_of(series, [](const Series& one) { return one.points.empty(); })) {
    return "";
  }
  Json y = {{"field", "y"}, {"type", "quantitative"}, {"title", y_label}};
  y["scale"] = {{"zero", from_zero}};
  if (y_range) {
    y["scale"]["domain"] = {from_zero ? std::min(0.0, y_range->first) : y_range->first,
                            y_range->second};
    y["scale"]["nice"] = true;  // or the highest point touches the edge
  }
  Json layers = Json::array();
  if (has_intervals()) {
    layers.push_back(band_layer(y));
  }
  layers.push_back(line_layer(*this));
  layers.push_back(point_layer(*this));
  if (!thin.empty()) {
    layers.push_back(thin_layer(*this));
  }
  if (any_of(marks, [](const auto& mark) { return mark.has_value(); })) {
    layers.push_back(mark_layer(*this));
  }
  const Json spec = {
      {"usermeta", {{"names", names_of(series)}}},
      {"height", is_small ? 200 : 260},
      {"data", {{"values", values_of(series)}}},
      {"encoding", {{"x", x_of(*this)}, {"y", y}, {"color", color_of(names_of(series))}}},
      {"layer", layers}};
  return figure_html(title, is_small ? " small" : "", link,
                     fmt::format("{} over {}, {} curves", y_label, x_label, series.size()), spec);
}

void share_y_axis(std::vector<LineChart>& charts) {
  double low = INFINITY, high = -INFINITY;
  for (const LineChart& chart : charts) {
    for (const std::vector<Series>* all : {&chart.series, &chart.thin}) {
      for (const Series& series : *all) {
        for (const Series::Point& point : series.points) {
          low = std::min(low, point.y - point.ci95.value_or(0));
          high = std::max(high, point.y + point.ci95.value_or(0));
        }
      }
    }
  }
  for (LineChart& chart : charts) {
    chart.y_range = {low, high};
  }
}

std::string StackedBars::html() const {
  Json values = Json::array();
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      values.push_back({{"row", row.name}, {"s", parts[i]}, {"y", row.values[i]}, {"i", i}});
    }
  }
  Json color = color_of(parts);
  if (parts.size() == 1) {
    color["legend"] = nullptr;
  }
  const Json spec = {
      {"usermeta", {{"names", parts}}},
      {"height", {{"step", 26}}},
      {"data", {{"values", values}}},
      {"params", {legend_choice()}},
      {"mark", {{"type", "bar"}}},
      {"encoding",
       {{"y", {{"field", "row"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
        {"x",
         {{"field", "y"},
          {"type", "quantitative"},
          {"title", unit},
          {"scale", {{"nice", false}}},
          {"axis", {{"tickCount", 8}}}}},
        {"color", color},
        {"order", {{"field", "i"}}},
        {"opacity", faded_unless_shown(1)},
        {"tooltip",
         {{{"field", "row"}, {"title", "of"}},
          {{"field", "s"}, {"title", "part"}},
          {{"field", "y"}, {"title", unit}, {"format", ".4~g"}}}}}}};
  return rows.empty() ? ""
                      : figure_html(title, " wide", "", fmt::format("{} bars", rows.size()), spec);
}

std::string Waterfall::html() const {
  Json values = Json::array();
  double at = 0;
  for (const Step& step : steps) {
    values.push_back(
        {{"step", step.name}, {"from", at}, {"to", at + step.length}, {"s", step.length}});
    at += step.length;
  }
  const std::string text = "format(datum.s, ',.1f')";
  const Json y = {{"field", "step"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}};
  const Json bars = {{"mark", {{"type", "bar"}, {"color", "#0072b2"}}},
                     {"encoding",
                      {{"x",
                        {{"field", "from"},
                         {"type", "quantitative"},
                         {"title", unit},
                         {"scale", {{"nice", false}}}}},
                       {"x2", {{"field", "to"}}},
                       {"tooltip",
                        {{{"field", "step"}, {"title", "until"}},
                         {{"field", "s"}, {"title", unit}, {"format", ".5~g"}},
                         {{"field", "from"}, {"title", "from"}, {"format", ".5~g"}}}}}}};
  const Json labels = {
      {"transform", {{{"calculate", text}, {"as", "text"}}}},
      {"mark", {{"type", "text"}, {"align", "left"}, {"dx", 4}}},
      {"encoding",
       {{"x", {{"field", "to"}, {"type", "quantitative"}}}, {"text", {{"field", "text"}}}}}};
  const Json spec = {{"usermeta", {{"names", {""}}}},
                     {"height", {{"step", 24}}},
                     {"data", {{"values", values}}},
                     {"encoding", {{"y", y}}},
                     {"layer", {bars, labels}}};
  return steps.empty() ? ""
                       : figure_html(title, "", "", fmt::format("{} steps", steps.size()), spec);
}

std::string HeatMap::html() const {
  Json values = Json::array();
  for (const Cell& cell : cells) {
    values.push_back({{"x", cell.x}, {"y", cell.y}, {"s", cell.value}});
  }
  const auto axis = [](const char* field, const std::string& label) {
    return Json{{"field", field}, {"type", "nominal"}, {"sort", nullptr}, {"title", label}};
  };
  Json x = axis("x", x_label), y = axis("y", y_label);
  x["axis"] = {{"labelAngle", 0}};
  // Above the axis: a map of few rows is lower than its name is long.
  y["axis"] = {{"titleAngle", 0}, {"titleAlign", "left"}, {"titleX", 0}, {"titleY", -8}};
  const Json spec = {{"usermeta", {{"names", {""}}}},
                     {"height", {{"step", 26}}},
                     {"data", {{"values", values}}},
                     {"mark", {{"type", "rect"}}},
                     {"encoding",
                      {{"x", x},
                       {"y", y},
                       {"color",
                        {{"field", "s"},
                         {"type", "quantitative"},
                         {"title", figure_label},
                         {"scale", {{"scheme", "viridis"}}},
                         {"legend", {{"orient", "right"}, {"titleLimit", 200}}}}},
                       {"tooltip",
                        {{{"field", "x"}, {"title", x_label}},
                         {{"field", "y"}, {"title", y_label}},
                         {{"field", "s"}, {"title", figure_label}, {"format", ".5~g"}}}}}}};
  return cells.empty()
             ? ""
             : figure_html(title, "", link,
                           fmt::format("{} over {} and {}", figure_label, x_label, y_label), spec);
}

std::string GroupedBars::html() const {
  Json values = Json::array();
  for (const Group& group : groups) {
    for (std::size_t i = 0; i < group.values.size(); ++i) {
      if (group.values[i]) {
        values.push_back({{"x", group.name}, {"s", series[i]}, {"y", *group.values[i]}});
      }
    }
  }
  const Json spec = {
      {"usermeta", {{"names", series}}},
      {"height", 260},
      {"data", {{"values", values}}},
      {"params", {legend_choice()}},
      {"mark", {{"type", "bar"}}},
      {"encoding",
       {{"x",
         {{"field", "x"},
          {"type", "nominal"},
          {"sort", nullptr},
          {"title", nullptr},
          {"axis", {{"labelAngle", groups.size() > 4 ? -35 : 0}}}}},
        {"xOffset", {{"field", "s"}, {"type", "nominal"}, {"scale", {{"domain", series}}}}},
        {"y", {{"field", "y"}, {"type", "quantitative"}, {"title", y_label}}},
        {"color", color_of(series)},
        {"opacity", faded_unless_shown(1)},
        {"tooltip",
         {{{"field", "x"}, {"title", "at"}},
          {{"field", "s"}, {"title", "bar"}},
          {{"field", "y"}, {"title", y_label}, {"format", ".5~g"}}}}}}};
  return values.empty()
             ? ""
             : figure_html(title, "", "", fmt::format("{}, {} bars", y_label, values.size()), spec);
}

}  // namespace flitwise
