// SPDX-License-Identifier: Apache-2.0
// One run as HTML.
#include <fmt/format.h>

#include "report/html.h"
#include "report/report.h"
#include "report/run_tables.h"
#include "report/svg_plot.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string links_html(const Json& result, const ReportOptions& options) {
  HtmlTable table({"link", "TLPs", "payload, B", "goodput, Gb/s", "utilisation, %",
                   "link efficiency, %", "replays"});
  HtmlTable bytes({"bytes on the wire", "total, B", "header", "identity", "payload", "padding",
                   "framing", "crc", "dllp", "fec", "phy", "replay", "idle"});
  StackedBars bars;
  bars.title = "Where the bytes went, % of the wire";
  bars.unit = "%";
  bars.parts = {"payload", "header", "identity", "padding", "framing", "crc",
                "dllp",    "fec",    "phy",      "replay",  "idle"};
  for (const Json& link : result.at("links")) {
    for (const char* way : {"up", "down"}) {
      const Json& d = link.at(way);
      const std::string name = link.at("name").get<std::string>() + " " + way;
      table.add_row({name, count_cell(d.at("tlps")), count_cell(d.at("payload_bytes")),
                     figure_cell(d.at("goodput_gbps"), 1, 2),
                     figure_cell(d.at("utilisation"), 100, 2),
                     figure_cell(d.at("link_efficiency"), 100, 2), count_cell(d.at("replays"))});
      const Json& wire = d.at("wire_bytes");
      const auto total = wire.at("total").get<double>();
      std::vector<std::string> row = {name, with_thousands(static_cast<std::uint64_t>(total))};
      for (const char* part : {"header", "identity", "payload", "padding", "framing", "crc", "dllp",
                               "fec", "phy", "replay", "idle"}) {
        row.push_back(with_thousands(static_cast<std::uint64_t>(wire.at(part).get<double>())));
      }
      bytes.add_row(row);
      StackedBars::Row bar{name, {}};
      for (const std::string& part : bars.parts) {
        bar.values.push_back(total > 0 ? 100 * wire.at(part).get<double>() / total : 0);
      }
      bars.rows.push_back(bar);
    }
  }
  if (table.is_empty()) {
    return "";
  }
  return "<h3>Links</h3>\n" + table.html() + (options.is_plain ? "" : bars.svg()) + bytes.html();
}

std::string latency_html(const Json& result) {
  HtmlTable table({"latency, ns", "count", "mean", "min", "p50", "p90", "p99", "p99.9", "max"});
  for (const Json& latency : result.at("latency")) {
    std::vector<std::string> row = {latency.at("name").get<std::string>(),
                                    count_cell(latency.at("count"))};
    for (const char* key : {"mean", "min", "p50", "p90", "p99", "p999", "max"}) {
      row.push_back(figure_cell(latency.at(key), 1, 1));
    }
    table.add_row(row);
  }
  return table.is_empty() ? "" : "<h3>Latency</h3>\n" + table.html();
}

std::string handles_html(const Json& result) {
  HtmlTable table({"device", "lookups", "hits", "ALLOC", "DEALLOC", "evictions", "bypasses",
                   "waited, ns", "rejected", "wrong domain", "TLPs per residency", "flushes",
                   "ALLOC_ACK", "handles kept"});
  HtmlTable refusals({"refused by the host", "device", "count"});
  for (const Json& dhi : result.at("dhi")) {
    table.add_row({dhi.at("device").get<std::string>(), count_cell(dhi.at("lookups")),
                   count_cell(dhi.at("hits")), count_cell(dhi.at("allocs")),
                   count_cell(dhi.at("deallocs")), count_cell(dhi.at("evictions")),
                   count_cell(dhi.at("bypasses")), figure_cell(dhi.at("stall_ns"), 1, 1),
                   count_cell(dhi.at("rejected")), count_cell(dhi.at("wrong_domain")),
                   figure_cell(dhi.at("tlps_per_residency"), 1, 2),
                   count_cell(value_of(dhi, "flushes")), count_cell(value_of(dhi, "acks")),
                   count_cell(value_of(dhi, "handles_kept"))});
    const Json rejections = value_of(dhi, "rejections");
    for (const auto& [kind, number] : rejections.items()) {
      refusals.add_row({kind, dhi.at("device").get<std::string>(), count_cell(number)});
    }
  }
  return (table.is_empty() ? "" : "<h3>Device handles</h3>\n" + table.html()) +
         (refusals.is_empty() ? "" : refusals.html());
}

std::string errors_html(const Json& result) {
  HtmlTable table({"errors and reports", "count"});
  for (const Json& error : result.at("errors")) {
    table.add_row({error.at("kind").get<std::string>(), count_cell(error.at("count"))});
  }
  std::string html = table.is_empty() ? "" : "<h3>Errors and reports</h3>\n" + table.html();
  for (const Json& check : result.at("checks")) {
    if (!check.at("ok").get<bool>()) {
      html += fmt::format("<p class=\"bad\">Check failed: {}: {}</p>\n",
                          html_text(check.at("name").get<std::string>()),
                          html_text(check.value("detail", "")));
    }
  }
  return html;
}

}  // namespace

std::string run_section(const Json& result, const ReportOptions& options) {
  return links_html(result, options) + waits_html(result) + latency_html(result) +
         handles_html(result) + translations_html(result) + cxl_html(result) +
         attacks_html(result) + other_lists_html(result) + errors_html(result) +
         violations_html(result) +
         html_details("Effective configuration",
                      "<pre>" + html_text(result.at("config").dump(2)) + "</pre>\n");
}

}  // namespace flitwise
