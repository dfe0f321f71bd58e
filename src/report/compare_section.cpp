// SPDX-License-Identifier: Apache-2.0
// A comparison as a page.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/ranges.h"
#include "report/html.h"
#include "report/report.h"

namespace flitwise {
namespace {

/// `most`: points of a figure.
void add_changes(HtmlPage& page, const std::string& title,
                 const std::vector<FigureChanges>& figures,
                 std::size_t most = std::numeric_limits<std::size_t>::max()) {
  if (figures.empty()) {
    return;
  }
  HtmlTable table({"figure", "point", "A", "B", "change", "relative"});
  for (const FigureChanges& figure : figures) {
    for (std::size_t i = 0; i < std::min(most, figure.points.size()); ++i) {
      const FigureDifference* const one = figure.points[i];
      table.add_row({one->name, one->point, value_text(one->a), value_text(one->b),
                     change_text(*one), relative_text(*one)});
    }
  }
  page.body += "<h2>" + title + "</h2>\n" + table.html();
}

void add_list(HtmlPage& page, const std::string& title, const std::vector<std::string>& items) {
  if (!items.empty()) {
    page.body +=
        "<h2>" + title + "</h2>\n<ul>\n" +
        sum_of(items,
               [](const std::string& item) { return "<li>" + html_text(item) + "</li>\n"; }) +
        "</ul>\n";
  }
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
  page.body += "<h2>Configured otherwise</h2>\n";
  HtmlTable config({"key", "A", "B", "points"});
  for (const ConfigDifference& one : comparison.config) {
    config.add_row({one.key, config_text(one.a), config_text(one.b), std::to_string(one.points)});
  }
  page.body += !comparison.has_configs ? "<p>Not known: a results.sqlite does not say.</p>\n"
               : config.is_empty()     ? "<p>Nothing.</p>\n"
                                       : config.html();
  const OrderedChanges changes = ordered_changes(comparison);
  page.body +=
      "<p class=\"note\">A question mark: 0 lies in the 95 % interval of the "
      "change, so that chance may explain it.</p>\n";
  add_changes(page, "What changed", changes.main);
  constexpr std::size_t kMostPoints = 20;
  add_changes(page, "Other figures, the largest relative changes first", changes.others,
              kMostPoints);
  if (changes.main.empty() && changes.others.empty()) {
    page.body += "<p>No figure changed for sure.</p>\n";
  }
  add_list(page, "Points of A alone", comparison.only_in_a);
  add_list(page, "Points of B alone", comparison.only_in_b);
  add_list(page, "Runs of A without a result", comparison.missing_in_a);
  add_list(page, "Runs of B without a result", comparison.missing_in_b);
  return page.html();
}

}  // namespace flitwise
