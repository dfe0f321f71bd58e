// SPDX-License-Identifier: Apache-2.0
// A comparison as a page.
#include <fmt/format.h>

#include <cmath>

#include "report/html.h"
#include "report/report.h"

namespace flitwise {
namespace {

std::string json_cell(const nlohmann::ordered_json& value) {
  return value.is_null() ? "-" : cell_text(value);
}

}  // namespace

std::string comparison_page(const Comparison& comparison, const std::string& a,
                            const std::string& b, const std::vector<std::string>& failed) {
  HtmlPage page;
  page.title = "flitwise compare";
  page.facts = {{"version", FLITWISE_VERSION}, {"A", a}, {"B", b}};
  for (const std::string& sentence : failed) {
    page.body += "<p class=\"bad\">" + html_text(sentence) + "</p>\n";
  }
  HtmlTable config({"key", "A", "B", "points"});
  for (const ConfigDifference& one : comparison.config) {
    config.add_row({one.key, json_cell(one.a), json_cell(one.b), std::to_string(one.points)});
  }
  page.body += "<h2>Configured otherwise</h2>\n";
  page.body += config.is_empty() ? "<p>Nothing.</p>\n" : config.html();
  HtmlTable figures({"point", "figure", "A", "B", "change", "95 % interval", "relative"});
  for (const FigureDifference* const one : comparison.changed()) {
    const double percent = one->percent();
    figures.add_row({one->point, one->name, fmt::format("{:.6g}", one->a),
                     fmt::format("{:.6g}", one->b), fmt::format("{:+.4g}", one->delta()),
                     one->ci95 ? fmt::format("± {:.3g}", *one->ci95) : "-",
                     std::isfinite(percent) ? fmt::format("{:+.2f} %", percent) : "from 0"});
  }
  page.body += "<h2>Figures, the largest relative change first</h2>\n";
  page.body += figures.is_empty() ? "<p>All are the same.</p>\n" : figures.html();
  return page.html();
}

}  // namespace flitwise
