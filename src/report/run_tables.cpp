// SPDX-License-Identifier: Apache-2.0
// Waits, translations, CXL and attacks of one run as HTML, one small function per table.
#include "report/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

#include "report/html.h"
#include "results/flatten.h"
#include "results/tables.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t number(const Json& object, const char* key) {
  const Json value = value_of(object, key);
  return value.is_null() ? 0 : value.get<std::uint64_t>();
}

std::uint64_t sum(const Json& object, std::initializer_list<const char*> keys) {
  std::uint64_t total = 0;
  for (const char* key : keys) {
    total += number(object, key);
  }
  return total;
}

std::string ratio(double part, double whole, double factor, int decimals) {
  return whole > 0 ? fmt::format("{:.{}f}", factor * part / whole, decimals) : "-";
}

std::string share(const Json& object, const char* key, std::uint64_t whole) {
  return ratio(static_cast<double>(number(object, key)), static_cast<double>(whole), 100, 2);
}

std::string name_of(const Json& object, const char* key) {
  return object.at(key).get<std::string>();
}

std::string titled(const char* title, const HtmlTable& table) {
  return table.is_empty() ? "" : fmt::format("<h3>{}</h3>\n{}", title, table.html());
}

/// A row of counts behind the name.
void add_counts(HtmlTable& table, const std::string& name, const Json& object,
                std::initializer_list<const char*> keys) {
  std::vector<std::string> row = {name};
  for (const char* key : keys) {
    row.push_back(count_cell(value_of(object, key)));
  }
  table.add_row(row);
}

// By Little's law the time over the window is the mean length.
HtmlTable waits_table(const Json& result) {
  HtmlTable table({"waited for", "at", "direction", "waits", "time, ns", "mean wait, ns",
                   "mean length", "sized by"});
  const auto window = result.at("flitwise").at("simulated_ns").get<double>();
  for (const Json& wait : list_of(result, "waits")) {
    const auto time = wait.at("wait_ns").get<double>();
    if (time > 0) {
      table.add_row({name_of(wait, "resource"), name_of(wait, "at"), name_of(wait, "direction"),
                     count_cell(wait.at("waits")), fmt::format("{:.1f}", time),
                     ratio(time, wait.at("waits").get<double>(), 1, 1), ratio(time, window, 1, 2),
                     name_of(wait, "key")});
    }
  }
  return table;
}

std::string limit_text(const Json& limit) {
  return limit.at("at").is_null() ? "-" : name_of(limit, "at") + " " + name_of(limit, "resource");
}

HtmlTable explain_table_of(const Json& result) {
  HtmlTable table({"requests", "limited by", "share, %", "next", "share, %", "to try"});
  for (const Json& row : list_of(result, "explain")) {
    const Json& limit = row.at("limit");
    const Json& next = row.at("next");
    const std::string larger = limit.at("larger").is_null() ? "" : name_of(limit, "larger");
    table.add_row(
        {name_of(row, "link") + " " + name_of(row, "direction") + " " + name_of(row, "kind"),
         limit_text(limit), figure_cell(limit.at("share"), 100, 1), limit_text(next),
         figure_cell(next.at("share"), 100, 1),
         larger.empty() ? "-" : name_of(limit, "key") + "=" + larger});
  }
  return table;
}

HtmlTable agents_table(const Json& result) {
  HtmlTable table({"agent", "requests", "translated", "look-ups", "hits, %", "misses, %",
                   "under a miss, %", "walks", "reads per walk", "faults", "invalidations",
                   "invalidations of devices", "held back", "page requests",
                   "page requests dropped"});
  for (const Json& agent : list_of(result, "iommu")) {
    if (number(agent, "requests") + number(agent, "invalidations") == 0) {
      continue;
    }
    const std::uint64_t lookups =
        sum(agent, {"iotlb_hits", "iotlb_misses", "iotlb_misses_under_miss"});
    table.add_row(
        {name_of(agent, "name"), count_cell(agent.at("requests")),
         count_cell(value_of(agent, "translated_requests")), with_thousands(lookups),
         share(agent, "iotlb_hits", lookups), share(agent, "iotlb_misses", lookups),
         share(agent, "iotlb_misses_under_miss", lookups), count_cell(agent.at("walks")),
         ratio(agent.at("walk_reads").get<double>(), agent.at("walks").get<double>(), 1, 1),
         count_cell(agent.at("faults")), count_cell(agent.at("invalidations")),
         count_cell(value_of(agent, "device_invalidations")),
         count_cell(value_of(agent, "held_back")), count_cell(value_of(agent, "page_requests")),
         count_cell(value_of(agent, "page_requests_dropped"))});
  }
  return table;
}

HtmlTable drivers_table(const Json& result) {
  HtmlTable table({"driver of", "pages mapped", "pages unmapped", "late accesses",
                   "page requests served", "refused", "faults taken", "contexts ended"});
  for (const Json& agent : list_of(result, "iommu")) {
    const auto keys = {"maps",
                       "unmaps",
                       "late_accesses",
                       "page_requests_served",
                       "page_requests_refused",
                       "faults_taken",
                       "teardowns"};
    if (sum(agent, keys) != 0) {
      add_counts(table, name_of(agent, "name"), agent, keys);
    }
  }
  return table;
}

HtmlTable permissions_table(const Json& result) {
  HtmlTable table({"Secure ATS at", "checks", "denied", "reads per check"});
  for (const Json& agent : list_of(result, "iommu")) {
    const std::uint64_t checks = number(agent, "permission_checks");
    if (checks != 0) {
      table.add_row({name_of(agent, "name"), with_thousands(checks),
                     count_cell(value_of(agent, "permission_denied")),
                     ratio(static_cast<double>(number(agent, "permission_reads")),
                           static_cast<double>(checks), 1, 2)});
    }
  }
  return table;
}

HtmlTable atcs_table(const Json& result) {
  HtmlTable table({"function with an ATC", "Translation Requests", "look-ups", "hits, %",
                   "misses, %", "under a miss, %", "invalidations", "page requests"});
  for (const Json& function : list_of(result, "ats")) {
    const std::uint64_t lookups = sum(function, {"hits", "misses", "misses_under_miss"});
    if (lookups + number(function, "invalidations") != 0) {
      table.add_row({name_of(function, "function"), count_cell(function.at("requests")),
                     with_thousands(lookups), share(function, "hits", lookups),
                     share(function, "misses", lookups),
                     share(function, "misses_under_miss", lookups),
                     count_cell(function.at("invalidations")),
                     count_cell(value_of(function, "page_requests"))});
    }
  }
  return table;
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

/// All names and figures of a list whose rows are not nested.
HtmlTable table_of(const TableInfo& info, const Json& list) {
  std::vector<std::string> header;
  for (const NameInfo& name : info.names) {
    header.push_back(name.key);
  }
  for (const FigureInfo& figure : info.figures) {
    header.push_back(figure.unit.empty() ? figure.key : figure.key + ", " + figure.unit);
  }
  HtmlTable table(header);
  for (const Json& one : list) {
    Json flat = Json::object();
    flatten(one, "", flat);
    std::vector<std::string> row;
    for (const NameInfo& name : info.names) {
      row.push_back(name_of(one, name.key.c_str()));
    }
    for (const FigureInfo& figure : info.figures) {
      row.push_back(cell_of(value_of(flat, figure.column().c_str())));
    }
    table.add_row(row);
  }
  return table;
}

}  // namespace

std::string count_cell(const Json& value) {
  return value.is_null() ? "-" : with_thousands(value.get<std::uint64_t>());
}

std::string figure_cell(const Json& value, double factor, int decimals) {
  return value.is_null() ? "-" : fmt::format("{:.{}f}", value.get<double>() * factor, decimals);
}

Json value_of(const Json& object, const char* key) {
  return object.contains(key) ? object.at(key) : Json();
}

Json list_of(const Json& result, const char* key) {
  return result.contains(key) ? Json(result.at(key).get<Json::array_t>()) : Json::array();
}

std::string waits_html(const Json& result) {
  return titled("What limited requests", explain_table_of(result)) +
         titled("Waits", waits_table(result));
}

std::string translations_html(const Json& result) {
  return titled("Translations", agents_table(result)) +
         titled("Driver of the translation agent", drivers_table(result)) +
         titled("Secure ATS", permissions_table(result)) +
         titled("Address translation caches of devices", atcs_table(result));
}

std::string cxl_html(const Json& result) {
  HtmlTable caches({"cache of", "reads", "writes", "hits, %", "evictions", "snoops",
                    "of modified lines", "overtaken evictions"});
  for (const Json& cache : list_of(result, "cxl_cache")) {
    caches.add_row({name_of(cache, "device"), count_cell(cache.at("reads")),
                    count_cell(cache.at("writes")),
                    share(cache, "hits", sum(cache, {"reads", "writes"})),
                    count_cell(cache.at("evictions")), count_cell(cache.at("snoops")),
                    count_cell(cache.at("snoops_modified")), count_cell(cache.at("bogus"))});
  }
  HtmlTable memory({"memory of", "host reads, lines", "host writes", "host hits", "host evictions",
                    "device reads, lines", "device writes", "device hits", "BISnp", "written back",
                    "early conflicts", "late conflicts"});
  for (const Json& one : list_of(result, "cxl_hdm_db")) {
    add_counts(memory, name_of(one, "device"), one,
               {"host_reads", "host_writes", "host_hits", "host_evictions", "device_reads",
                "device_writes", "device_hits", "back_invalidations", "write_backs",
                "conflicts_early", "conflicts_late"});
  }
  return titled("CXL caches, lines", caches) + titled("Memory by HDM-DB", memory);
}

std::string attacks_html(const Json& result) {
  HtmlTable table({"attack", "tried", "through"});
  for (const Json& one : list_of(result, "attacks")) {
    if (number(one, "tried") != 0) {
      add_counts(table, name_of(one, "attack"), one, {"tried", "through"});
    }
  }
  return titled("Attacks", table);
}

std::string violations_html(const Json& result) {
  HtmlTable table({"rule", "what is wrong", "link", "time, ns", "packet", "other"});
  for (const Json& one : list_of(result, "violations")) {
    table.add_row({name_of(one, "rule"), name_of(one, "sentence"),
                   name_of(one, "link") + " " + name_of(one, "direction"),
                   figure_cell(one.at("time_ns"), 1, 3), name_of(one, "packet"),
                   name_of(one, "other")});
  }
  return titled("Violations of the protocol", table);
}

std::string other_lists_html(const Json& result) {
  std::string html;
  for (const StatisticsTable* const table : all_tables()) {
    const TableInfo& info = table->info();
    if (std::find(std::begin(kShownAbove), std::end(kShownAbove), info.list) ==
        std::end(kShownAbove)) {
      html += titled(info.list.c_str(), table_of(info, list_of(result, info.list.c_str())));
    }
  }
  return html;
}

}  // namespace flitwise
