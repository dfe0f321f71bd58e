// SPDX-License-Identifier: Apache-2.0
// One run as HTML: its summary, as the terminal shows it, and behind it each list of result.json as
// its table of results describes it. There, columns of zeros are left out.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/split.hpp>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/ranges.h"
#include "report/html.h"
#include "report/report.h"
#include "results/read_result.h"
#include "results/result_json.h"
#include "results/summary_table.h"
#include "results/tables.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const Json& object, const std::string& key) {
  return object.at(key).get<std::string>();
}

std::string name_of(const Json& row, const NameInfo& name) {
  const Json& value = row.at(name.key);
  return name.is_number && !value.is_string() ? std::to_string(value.get<std::uint64_t>())
                                              : value.get<std::string>();
}

/// 0 where a result of an older version lacks it.
double number_of(const Json& row, const std::string& key) {
  const auto found = row.find(key);
  return found == row.end() || found->is_null() ? 0 : found->get<double>();
}

/// Rows of a table with the columns of its SQLite table.
std::vector<Json> run_rows(const Json& result, const TableInfo& info) {
  std::vector<std::string> nested;
  boost::split(nested, info.nested, [](char c) { return c == '|'; });
  std::vector<Json> rows;
  const Json entries = ungrouped(info, table_rows(info.list, result));
  for (const Json& entry : entries) {
    for (const std::string& part : nested) {  // one without a name where nothing is nested
      Json row = Json::object();
      const Json& own = part.empty() ? entry : entry.at(part);
      flatten(own.get_ref<const Json::object_t&>(), "", row);  // throws where it is no object
      for (std::size_t i = 0; i < info.names.size(); ++i) {
        row[info.names[i].key] = i > 0 && !part.empty() ? part : name_of(entry, info.names[i]);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string cell_of(const Json& row, const FigureInfo& figure) {
  const auto found = row.find(figure.column());
  if (found == row.end() || found->is_null()) {
    return "-";
  }
  if (figure.type == FigureType::kText) {
    return found->get<std::string>();
  }
  if (figure.type == FigureType::kCount || found->is_number_unsigned()) {
    return with_thousands(found->get<std::uint64_t>());
  }
  return fmt::format("{:.{}f}", found->get<double>() * (figure.unit == "1" ? 100 : 1),
                     figure.unit == "ns" ? 1 : 2);
}

bool says_nothing(const std::string& cell) {
  return cell.find_first_not_of("-0.") == std::string::npos;
}

/// Columns of cells, those that say nothing in any row left out.
class RunTable {
 public:
  explicit RunTable(const std::vector<Json>& rows) : rows_(rows), cells_(rows.size()) {}

  template <class Cell>
  void add(const std::string& title, Cell cell, bool is_name = false) {
    std::vector<std::string> column = mapped(rows_, cell);
    const bool is_shown = !all_of(column, says_nothing);
    if (is_name || is_shown) {
      header_.push_back(title);
      for (std::size_t i = 0; i < column.size(); ++i) {
        cells_[i].push_back(std::move(column[i]));
      }
    }
    has_figures_ = has_figures_ || (!is_name && is_shown);
  }
  /// Empty where no figure is left.
  std::string html(const std::string& heading) const {
    HtmlTable table(header_);
    for (const std::vector<std::string>& row : cells_) {
      table.add_row(row);
    }
    return has_figures_ ? fmt::format("<h3>{}</h3>\n{}", html_text(heading), table.html()) : "";
  }

 private:
  const std::vector<Json>& rows_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> cells_;
  bool has_figures_ = false;
};

/// Counts by kind, a row each.
std::string kinds_html(const Json& result, const TableInfo& info, const FigureInfo& figure) {
  const NameInfo& owner = info.names.front();
  HtmlTable table({figure.key, owner.key, "count"});
  for (const Json& entry : table_rows(info.list, result)) {
    const Json kinds = entry.value(figure.key, Json::object());
    for (const auto& [kind, number] : kinds.items()) {
      table.add_row({kind, name_of(entry, owner), with_thousands(number.get<std::uint64_t>())});
    }
  }
  return table.is_empty() ? "" : table.html();
}

std::string list_html(const Json& result, const TableInfo& info) {
  const std::vector<Json> rows = run_rows(result, info);
  RunTable table(rows);
  std::string kinds;
  for (const NameInfo& each : info.names) {
    table.add(
        each.key, [&each](const Json& row) { return name_of(row, each.key); }, true);
  }
  for (const FigureInfo& each : info.figures) {
    if (each.type == FigureType::kByKind) {
      kinds += kinds_html(result, info, each);
      continue;
    }
    const std::string unit = each.unit == "1" ? "%" : each.unit;
    table.add(unit.empty() ? each.key : each.key + ", " + unit,
              [&each](const Json& row) { return cell_of(row, each); });
  }
  return table.html(info.list) + kinds;
}

std::string wire_bars(const Json& result) {
  StackedBars bars;
  bars.title = "Where the bytes went, % of the wire";
  bars.unit = "%";
  bars.parts = {"payload", "header", "identity", "padding", "framing", "crc",
                "dllp",    "fec",    "phy",      "replay",  "idle"};
  for (const Json& row : run_rows(result, link_table().info())) {
    StackedBars::Row& bar = bars.rows.emplace_back(
        StackedBars::Row{name_of(row, "name") + " " + name_of(row, "direction"), {}});
    const double total = number_of(row, "wire_bytes_total");
    for (const std::string& part : bars.parts) {
      bar.values.push_back(total > 0 ? 100 * number_of(row, "wire_bytes_" + part) / total : 0);
    }
  }
  return bars.html();
}

/// How the latencies are distributed, at the quantiles that a result has.
std::string latency_chart(const Json& result) {
  constexpr std::pair<const char*, double> kQuantiles[] = {
      {"min", 0}, {"p50", 50}, {"p90", 90}, {"p99", 99}, {"p999", 99.9}, {"max", 100}};
  LineChart chart;
  chart.title = "Latency: requests that took at most so long";
  chart.x_label = "latency, ns";
  chart.y_label = "requests, %";
  chart.log_x = true;
  for (const Json& row : table_rows("latency", result)) {
    Series series{name_of(row, "name"), {}};
    for (const auto& [key, share] : kQuantiles) {
      if (const double time = number_of(row, key); time > 0) {
        series.points.push_back({time, share});
      }
    }
    if (number_of(row, "count") > 0 && chart.series.size() < kMostSeries) {
      chart.series.push_back(std::move(series));
    }
  }
  return chart.html();
}

/// What requests waited for, shared out over all of them: where a request's time goes beyond the
/// wire and fixed delays.
std::string wait_bars(const Json& result) {
  double requests = 0;
  for (const Json& row : table_rows("latency", result)) {
    const std::string name = name_of(row, "name");
    requests += name == "dma_read" || name == "dma_write" ? number_of(row, "count") : 0;
  }
  StackedBars bars;
  bars.title = "Waiting, ns a request, by what was waited for";
  bars.unit = "ns a request";
  bars.parts = {"wait"};
  for (const Json& row : table_rows("waits", result)) {
    if (const double wait = number_of(row, "wait_ns"); wait > 0 && requests > 0) {
      bars.rows.push_back({fmt::format("{} {} {} {}", name_of(row, "at"), name_of(row, "resource"),
                                       name_of(row, "direction"), name_of(row, "kind")),
                           {wait / requests}});
    }
  }
  std::stable_sort(bars.rows.begin(), bars.rows.end(), [](const auto& one, const auto& other) {
    return one.values.front() > other.values.front();
  });
  constexpr std::size_t kMostWaits = 12;
  bars.rows.resize(std::min(bars.rows.size(), kMostWaits));
  return bars.html();
}

/// The way of a TLP from its engine to its end, a bar a hop.
std::string hop_charts(const Json& result) {
  std::map<std::string, Waterfall> by_request;
  for (const Json& row : table_rows("hops", result)) {
    const std::string request = name_of(row, "request");
    Waterfall& chart = by_request[request];
    chart.title = fmt::format("A {} hop by hop, ns: mean of {} TLPs", request,
                              with_thousands(row.at("count").get<std::uint64_t>()));
    chart.unit = "ns since it was issued";
    chart.steps.push_back({name_of(row, "hop"), number_of(row, "mean_ns")});
  }
  return sum_of(by_request, [](const auto& one) { return one.second.html(); });
}

std::string run_charts(const Json& result) {
  return "<div class=\"charts\">\n" + wire_bars(result) + hop_charts(result) + wait_bars(result) +
         latency_chart(result) + "</div>\n";
}

/// Every figure of the result, list by list.
std::string figures_html(const Json& result) {
  const std::string html = sum_of(all_tables(), [&result](const StatisticsTable* table) {
    return list_html(result, table->info());
  });
  return html.empty() ? "" : html_details("All figures", html);
}

std::string lines_html(const std::string& lines, bool is_bad) {
  std::string html;
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) {
    html += fmt::format("<p{}>{}</p>\n", is_bad ? " class=\"bad\"" : "", html_text(line));
  }
  return html;
}

std::string part_html(const SummaryPart& part) {
  if (!part.table) {
    return lines_html(part.lines, part.is_bad);
  }
  const auto& rows = part.table->rows();
  HtmlTable table(rows.front());
  std::for_each(rows.begin() + 1, rows.end(), [&table](const auto& row) { table.add_row(row); });
  return table.html() + lines_html(part.table->note(), false);
}

/// What the monitors saw.
std::string violations_html(const Json& result) {
  HtmlTable table({"rule", "what is wrong", "link", "time, ns", "packet", "other"});
  for (const Json& one : table_rows("violations", result)) {
    table.add_row({name_of(one, "rule"), name_of(one, "sentence"),
                   name_of(one, "link") + " " + name_of(one, "direction"),
                   fmt::format("{:.3f}", one.at("time_ns").get<double>()), name_of(one, "packet"),
                   name_of(one, "other")});
  }
  return table.is_empty() ? "" : "<h3>Violations of the protocol</h3>\n" + table.html();
}

}  // namespace

std::string run_section(const Json& result, const ReportOptions& options) {
  const std::string summary = sum_of(summary_parts(read_result(result), end_of(result)), part_html);
  return "<div class=\"summary\">\n" + summary + "</div>\n" + violations_html(result) +
         (options.is_plain ? "" : run_charts(result)) + figures_html(result) +
         html_details("Effective configuration",
                      "<pre>" + html_text(result.at("config").dump(2)) + "</pre>\n");
}

}  // namespace flitwise
