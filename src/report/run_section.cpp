// SPDX-License-Identifier: Apache-2.0
// One run as HTML: the lists of result.json as tables. What is zero is left out.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

#include "report/html.h"
#include "report/report.h"
#include "results/result_json.h"
#include "results/tables.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;
using Keys = std::vector<const char*>;

/// The value of a key; null where a result of an older version has none.
Json value_of(const Json& object, const std::string& key) {
  return object.contains(key) ? object.at(key) : Json();
}

/// The list of a result; empty where a result of an older version has none.
Json list_of(const Json& result, const std::string& key) {
  return result.contains(key) ? Json(result.at(key).get<Json::array_t>()) : Json::array();
}

/// "-" where the value is missing; throws Json::exception where it is no number.
std::string count_cell(const Json& value) {
  return value.is_null() ? "-" : with_thousands(value.get<std::uint64_t>());
}

std::string figure_cell(const Json& value, double factor, int decimals) {
  return value.is_null() ? "-" : fmt::format("{:.{}f}", value.get<double>() * factor, decimals);
}

std::string name_of(const Json& object, const std::string& key) {
  return object.at(key).get<std::string>();
}

/// Of a figure that every result has; throws Json::exception with its key where it is missing.
double figure_of(const Json& row, const std::string& key) {
  return row.at(key).get<double>();
}

/// Figures that results of older versions may lack count as 0.
double sum(const Json& object, const Keys& keys) {
  double total = 0;
  for (const char* key : keys) {
    const Json value = value_of(object, key);
    total += value.is_null() ? 0 : value.get<double>();
  }
  return total;
}

std::string ratio_text(double part, double whole, double factor, int decimals) {
  return whole > 0 ? fmt::format("{:.{}f}", factor * part / whole, decimals) : "-";
}

/// A column of a table: its title, and the cell of a row.
struct Column {
  std::string title;
  std::function<std::string(const Json& row)> cell;
};
using Columns = std::vector<Column>;

Column name(const char* title, const char* key) {
  return {title, [key](const Json& row) { return name_of(row, key); }};
}
Column count(const char* title, const char* key) {
  return {title, [key](const Json& row) { return count_cell(row.at(key)); }};
}
/// One that results of older versions lack.
Column later_count(const char* title, const char* key) {
  return {title, [key](const Json& row) { return count_cell(value_of(row, key)); }};
}
Column figure(const char* title, const char* key, double factor, int decimals) {
  return {title, [=](const Json& row) { return figure_cell(row.at(key), factor, decimals); }};
}
Column sum_of(const char* title, const Keys& keys) {
  return {title, [keys](const Json& row) {
            return with_thousands(static_cast<std::uint64_t>(sum(row, keys)));
          }};
}
Column ratio(const char* title, const char* part, const char* whole, int decimals) {
  return {title, [=](const Json& row) {
            return ratio_text(figure_of(row, part), figure_of(row, whole), 1, decimals);
          }};
}
Column share(const char* title, const char* part, const Keys& whole) {
  return {title,
          [=](const Json& row) { return ratio_text(sum(row, {part}), sum(row, whole), 100, 2); }};
}

/// The rows of a list that have something in one of the columns `shown_by`, if that names any.
HtmlTable table_of(const Json& list, const Columns& columns, const Keys& shown_by = {}) {
  std::vector<std::string> header;
  for (const Column& column : columns) {
    header.push_back(column.title);
  }
  HtmlTable table(header);
  for (const Json& row : list) {
    std::vector<std::string> cells;
    if (shown_by.empty() || sum(row, shown_by) != 0) {
      for (const Column& column : columns) {
        cells.push_back(column.cell(row));
      }
      table.add_row(cells);
    }
  }
  return table;
}

std::string titled(const std::string& title, const Json& list, const Columns& columns,
                   const Keys& shown_by = {}) {
  const HtmlTable table = table_of(list, columns, shown_by);
  return table.is_empty() ? "" : fmt::format("<h3>{}</h3>\n{}", title, table.html());
}

/// Each direction of each link, with its name.
Json directions_of(const Json& result) {
  Json directions = Json::array();
  for (const Json& link : result.at("links")) {
    for (const char* way : {"up", "down"}) {
      directions.push_back(link.at(way));
      directions.back()["name"] = name_of(link, "name") + " " + way;
    }
  }
  return directions;
}

std::string links_html(const Json& result, const ReportOptions& options) {
  const Json directions = directions_of(result);
  if (directions.empty()) {
    return "";
  }
  const auto bytes_of = [](const Json& direction, const std::string& part) {
    return figure_of(direction.at("wire_bytes"), part);
  };
  Columns columns = {name("bytes on the wire", "name")};
  for (const char* part : {"total", "header", "identity", "payload", "padding", "framing", "crc",
                           "dllp", "fec", "phy", "replay", "idle"}) {
    columns.push_back({columns.size() == 1 ? "total, B" : part, [=](const Json& direction) {
                         return with_thousands(
                             static_cast<std::uint64_t>(bytes_of(direction, part)));
                       }});
  }
  StackedBars bars;
  bars.title = "Where the bytes went, % of the wire";
  bars.unit = "%";
  bars.parts = {"payload", "header", "identity", "padding", "framing", "crc",
                "dllp",    "fec",    "phy",      "replay",  "idle"};
  for (const Json& direction : directions) {
    StackedBars::Row& bar =
        bars.rows.emplace_back(StackedBars::Row{name_of(direction, "name"), {}});
    const double total = bytes_of(direction, "total");
    for (const std::string& part : bars.parts) {
      bar.values.push_back(total > 0 ? 100 * bytes_of(direction, part) / total : 0);
    }
  }
  return titled("Links", directions,
                {name("link", "name"), count("TLPs", "tlps"), count("payload, B", "payload_bytes"),
                 figure("goodput, Gb/s", "goodput_gbps", 1, 2),
                 figure("utilisation, %", "utilisation", 100, 2),
                 figure("link efficiency, %", "link_efficiency", 100, 2),
                 count("replays", "replays")}) +
         (options.is_plain ? "" : bars.svg()) + table_of(directions, columns).html();
}

std::string limit_text(const Json& limit) {
  return limit.at("at").is_null() ? "-" : name_of(limit, "at") + " " + name_of(limit, "resource");
}

// By Little's law the time over the window is the mean length.
std::string waits_html(const Json& result) {
  const double window = figure_of(result.at("flitwise"), "simulated_ns");
  Json waits = Json::array();
  for (const Json& wait : list_of(result, "waits")) {
    if (figure_of(wait, "wait_ns") != 0) {
      waits.push_back(wait);
    }
  }
  const auto limit = [](const char* title, const char* key) -> Column {
    return {title, [key](const Json& row) { return limit_text(row.at(key)); }};
  };
  const auto part = [](const char* key) -> Column {
    return {"share, %",
            [key](const Json& row) { return figure_cell(row.at(key).at("share"), 100, 1); }};
  };
  const auto requests = [](const Json& row) {
    return name_of(row, "link") + " " + name_of(row, "direction") + " " + name_of(row, "kind");
  };
  const auto to_try = [](const Json& row) {
    const Json& first = row.at("limit");
    const std::string larger = first.at("larger").is_null() ? "" : name_of(first, "larger");
    return larger.empty() ? "-" : name_of(first, "key") + "=" + larger;
  };
  const auto mean_length = [window](const Json& row) {
    return ratio_text(figure_of(row, "wait_ns"), window, 1, 2);
  };
  return titled("What limited requests", list_of(result, "explain"),
                {{"requests", requests},
                 limit("limited by", "limit"),
                 part("limit"),
                 limit("next", "next"),
                 part("next"),
                 {"to try", to_try}}) +
         titled("Waits", waits,
                {name("waited for", "resource"),
                 name("at", "at"),
                 name("direction", "direction"),
                 count("waits", "waits"),
                 figure("time, ns", "wait_ns", 1, 1),
                 ratio("mean wait, ns", "wait_ns", "waits", 1),
                 {"mean length", mean_length},
                 name("sized by", "key")});
}

std::string latency_html(const Json& result) {
  Columns columns = {name("latency, ns", "name"), count("count", "count")};
  for (const auto& [title, key] :
       {std::pair("mean", "mean"), std::pair("min", "min"), std::pair("p50", "p50"),
        std::pair("p90", "p90"), std::pair("p99", "p99"), std::pair("p99.9", "p999"),
        std::pair("max", "max")}) {
    columns.push_back(figure(title, key, 1, 1));
  }
  return titled("Latency", result.at("latency"), columns);
}

std::string handles_html(const Json& result) {
  HtmlTable refusals({"refused by the host", "device", "count"});
  for (const Json& dhi : result.at("dhi")) {
    const Json rejections = value_of(dhi, "rejections");
    for (const auto& [kind, number] : rejections.items()) {
      refusals.add_row({kind, name_of(dhi, "device"), count_cell(number)});
    }
  }
  return titled("Device handles", result.at("dhi"),
                {name("device", "device"), count("lookups", "lookups"), count("hits", "hits"),
                 count("ALLOC", "allocs"), count("DEALLOC", "deallocs"),
                 count("evictions", "evictions"), count("bypasses", "bypasses"),
                 figure("waited, ns", "stall_ns", 1, 1), count("rejected", "rejected"),
                 count("wrong domain", "wrong_domain"),
                 figure("TLPs per residency", "tlps_per_residency", 1, 2),
                 later_count("flushes", "flushes"), later_count("ALLOC_ACK", "acks"),
                 later_count("handles kept", "handles_kept")}) +
         (refusals.is_empty() ? "" : refusals.html());
}

/// Translation agents, their drivers, Secure ATS, ATCs.
std::string translations_html(const Json& result) {
  const Keys agent_lookups = {"iotlb_hits", "iotlb_misses", "iotlb_misses_under_miss"};
  const Keys lookups = {"hits", "misses", "misses_under_miss"};
  const Json agents = list_of(result, "iommu");
  return titled(
             "Translations", agents,
             {name("agent", "name"), count("requests", "requests"),
              later_count("translated", "translated_requests"), sum_of("look-ups", agent_lookups),
              share("hits, %", "iotlb_hits", agent_lookups),
              share("misses, %", "iotlb_misses", agent_lookups),
              share("under a miss, %", "iotlb_misses_under_miss", agent_lookups),
              count("walks", "walks"), ratio("reads per walk", "walk_reads", "walks", 1),
              count("faults", "faults"), count("invalidations", "invalidations"),
              later_count("invalidations of devices", "device_invalidations"),
              later_count("held back", "held_back"), later_count("page requests", "page_requests"),
              later_count("page requests dropped", "page_requests_dropped")},
             {"requests", "invalidations"}) +
         titled("Driver of the translation agent", agents,
                {name("driver of", "name"), later_count("pages mapped", "maps"),
                 later_count("pages unmapped", "unmaps"),
                 later_count("late accesses", "late_accesses"),
                 later_count("page requests served", "page_requests_served"),
                 later_count("refused", "page_requests_refused"),
                 later_count("faults taken", "faults_taken"),
                 later_count("contexts ended", "teardowns")},
                {"maps", "unmaps", "late_accesses", "page_requests_served", "page_requests_refused",
                 "faults_taken", "teardowns"}) +
         titled("Secure ATS", agents,
                {name("Secure ATS at", "name"), count("checks", "permission_checks"),
                 later_count("denied", "permission_denied"),
                 ratio("reads per check", "permission_reads", "permission_checks", 2)},
                {"permission_checks"}) +
         titled("Address translation caches of devices", list_of(result, "ats"),
                {name("function with an ATC", "function"),
                 count("Translation Requests", "requests"), sum_of("look-ups", lookups),
                 share("hits, %", "hits", lookups), share("misses, %", "misses", lookups),
                 share("under a miss, %", "misses_under_miss", lookups),
                 count("invalidations", "invalidations"),
                 later_count("page requests", "page_requests")},
                {"hits", "misses", "misses_under_miss", "invalidations"});
}

std::string cxl_html(const Json& result) {
  return titled("CXL caches, lines", list_of(result, "cxl_cache"),
                {name("cache of", "device"), count("reads", "reads"), count("writes", "writes"),
                 share("hits, %", "hits", {"reads", "writes"}), count("evictions", "evictions"),
                 count("snoops", "snoops"), count("of modified lines", "snoops_modified"),
                 count("overtaken evictions", "bogus")}) +
         titled(
             "Memory by HDM-DB", list_of(result, "cxl_hdm_db"),
             {name("memory of", "device"), later_count("host reads, lines", "host_reads"),
              later_count("host writes", "host_writes"), later_count("host hits", "host_hits"),
              later_count("host evictions", "host_evictions"),
              later_count("device reads, lines", "device_reads"),
              later_count("device writes", "device_writes"),
              later_count("device hits", "device_hits"), later_count("BISnp", "back_invalidations"),
              later_count("written back", "write_backs"),
              later_count("early conflicts", "conflicts_early"),
              later_count("late conflicts", "conflicts_late")});
}

/// Lists that have a table of their own; all others are shown as they are.
constexpr std::string_view kShownAbove[] = {"links",      "latency", "dhi",     "iommu",
                                            "ats",        "waits",   "explain", "cxl_cache",
                                            "cxl_hdm_db", "attacks"};

std::string cell_of(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_number_unsigned() ? count_cell(value) : figure_cell(value, 1, 2);
}

/// The lists of components that have no table of their own here, each with all its figures.
std::string other_lists_html(const Json& result) {
  std::string html;
  for (const StatisticsTable* const table : all_tables()) {
    const TableInfo& info = table->info();
    if (std::find(std::begin(kShownAbove), std::end(kShownAbove), info.list) !=
        std::end(kShownAbove)) {
      continue;
    }
    Columns columns;
    for (const NameInfo& each : info.names) {
      columns.push_back(name(each.key.c_str(), each.key.c_str()));
    }
    for (const FigureInfo& each : info.figures) {
      columns.push_back(
          {each.unit.empty() ? each.key : each.key + ", " + each.unit, [&each](const Json& row) {
             Json flat = Json::object();
             flatten(row, "", flat);
             return cell_of(value_of(flat, each.column()));
           }});
    }
    html += titled(info.list, list_of(result, info.list), columns);
  }
  return html;
}

std::string errors_html(const Json& result) {
  std::string html = titled("Errors and reports", result.at("errors"),
                            {name("errors and reports", "kind"), count("count", "count")});
  for (const Json& check : result.at("checks")) {
    if (!check.at("ok").get<bool>()) {
      html += fmt::format("<p class=\"bad\">Check failed: {}: {}</p>\n",
                          html_text(name_of(check, "name")), html_text(check.value("detail", "")));
    }
  }
  return html;
}

/// What the monitors saw.
std::string violations_html(const Json& result) {
  const auto link = [](const Json& one) {
    return name_of(one, "link") + " " + name_of(one, "direction");
  };
  return titled("Violations of the protocol", list_of(result, "violations"),
                {name("rule", "rule"),
                 name("what is wrong", "sentence"),
                 {"link", link},
                 figure("time, ns", "time_ns", 1, 3),
                 name("packet", "packet"),
                 name("other", "other")});
}

}  // namespace

std::string run_section(const Json& result, const ReportOptions& options) {
  return links_html(result, options) + waits_html(result) + latency_html(result) +
         handles_html(result) + translations_html(result) + cxl_html(result) +
         titled("Attacks", list_of(result, "attacks"),
                {name("attack", "attack"), later_count("tried", "tried"),
                 later_count("through", "through")},
                {"tried"}) +
         other_lists_html(result) + errors_html(result) + violations_html(result) +
         html_details("Effective configuration",
                      "<pre>" + html_text(result.at("config").dump(2)) + "</pre>\n");
}

}  // namespace flitwise
