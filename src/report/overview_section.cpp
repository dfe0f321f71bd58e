// SPDX-License-Identifier: Apache-2.0
// What stands on top of the page of a sweep: what it asks, what came out, what was varied, and the
// words that it takes.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/ranges.h"
#include "report/html.h"
#include "report/report.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string title_of(const BlockPresentation& block) {
  return block.title.empty() ? block.name : block.title;
}

std::string link_to(const BlockPresentation& block) {
  return fmt::format("<a href=\"#{}\">{}</a>", html_text(block.name), html_text(title_of(block)));
}

std::string range_text(const Rows& rows, const std::string& figure, int decimals) {
  double low = INFINITY, high = -INFINITY;
  for (const Json* row : rows) {
    if (const auto value = number_at(*row, figure)) {
      low = std::min(low, *value);
      high = std::max(high, *value);
    }
  }
  return low == high ? fmt::format("{:+.{}f}", low, decimals)
                     : fmt::format("{:+.{}f} to {:+.{}f}", low, decimals, high, decimals);
}

/// A row of the table for each group of a block's verdict.
std::string verdict_rows(const MergedSweep& merged, const BlockPresentation& block) {
  const VerdictSpec& verdict = block.verdict;
  const FigureSpec* const figure = block.figure(verdict.figure);
  const Rows rows = those(rows_of(merged, block.name), [&](const Json* row) {
    return number_at(*row, verdict.figure).has_value() && !block.is_own_baseline(*row);
  });
  std::string html;
  for (const RowGroup& group : groups_by(rows, verdict.per)) {
    std::size_t wins = 0, nothing = 0, loses = 0;
    for (const Json* row : group.rows) {
      const std::string word =
          verdict_word(*number_at(*row, verdict.figure), doubt_in(*row, verdict));
      ++(word == "wins" ? wins : word == "loses" ? loses : nothing);
    }
    const std::string word = wins > 0 && loses > 0       ? "depends"
                             : wins > 0 && nothing == 0  ? "wins"
                             : wins > 0                  ? "wins at times"
                             : loses > 0 && nothing == 0 ? "loses"
                             : loses > 0                 ? "loses at times"
                                                         : "nothing";
    const char* const kind = wins > 0 && loses == 0 ? "good" : loses > 0 && wins == 0 ? "bad" : "";
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td class=\"n\">{}</td><td>{}{}{}</td></tr>\n",
        link_to(block), html_text(group.label), kind, word, wins, nothing, loses,
        range_text(group.rows, verdict.figure, figure == nullptr ? 2 : figure->decimals),
        figure == nullptr || figure->unit.empty() ? "" : " ",
        html_text(figure == nullptr ? "" : figure->unit));
  }
  return html;
}

std::string verdicts_html(const MergedSweep& merged) {
  std::string rows;
  std::set<std::string> bases;
  for (const BlockPresentation& block : merged.presentation.blocks) {
    if (!block.verdict.figure.empty()) {
      rows += verdict_rows(merged, block);
      bases.insert(verdict_basis(block, rows_of(merged, block.name)));
    }
  }
  if (rows.empty()) {
    return "";
  }
  bases.erase("");
  const std::string basis = bases.size() > 1 ? "what they rest on stands with each block."
                            : bases.empty()  ? ""
                                             : *bases.begin();
  return fmt::format(
      "<div class=\"scroll\"><table class=\"verdicts\"><thead><tr><th>where</th><th>what</th>"
      "<th>verdict</th><th class=\"n\">wins</th><th class=\"n\">nothing</th><th "
      "class=\"n\">loses</th><th>by</th></tr></thead><tbody>\n{}</tbody></table></div>\n"
      "<p>Counts are of points. Each is told from the point that its block compares it "
      "with{}{}</p>\n",
      rows, basis.empty() ? "." : "; verdicts: ", html_text(basis));
}

std::string crossings_html(const MergedSweep& merged) {
  std::string items;
  for (const BlockPresentation& block : merged.presentation.blocks) {
    for (const std::string& sentence : crossing_sentences(merged, block)) {
      items += fmt::format("<li>{}: {}</li>\n", link_to(block), html_text(sentence));
    }
  }
  return items.empty()
             ? ""
             : "<h3>From where on it pays</h3>\n<ul class=\"findings\">\n" + items + "</ul>\n";
}

std::string axes_html(const MergedSweep& merged) {
  HtmlTable table({"what varies", "unit", "values"});
  for (const std::string& axis : merged.axes) {
    std::vector<std::string> values;
    for (const Json& row : merged.rows) {
      const auto cell = row.find(axis);
      std::string text = cell == row.end() ? "-" : cell_text(*cell);
      text = text.empty() ? "-" : text;
      if (!contains(values, text)) {
        values.push_back(text);
      }
    }
    if (values.size() < 2) {
      continue;
    }
    constexpr std::size_t kMostValues = 16;
    const std::size_t left = values.size() - std::min(values.size(), kMostValues);
    values.resize(values.size() - left);
    table.add_row({axis, merged.unit_of(axis),
                   fmt::format("{}{}", fmt::join(values, ", "),
                               left == 0 ? "" : fmt::format(" and {} more", left))});
  }
  return table.is_empty()
             ? ""
             : "<h2>What varies</h2>\n<div class=\"wrap\">" + table.html() + "</div>\n";
}

}  // namespace

std::string overview_section(const MergedSweep& merged) {
  const std::string verdicts = verdicts_html(merged), crossings = crossings_html(merged);
  return (verdicts.empty() && crossings.empty() ? "" : "<h2>Conclusion</h2>\n") + verdicts +
         crossings + axes_html(merged);
}

std::string terms_section(const std::string& page) {
  constexpr std::pair<const char*, const char*> kTerms[] = {
      {"goodput", "payload bits a second, headers and idle time not counted"},
      {"efficiency", "payload as a share of what was sent, idle time left out"},
      {"identity",
       "what says for whom a request is: a Requester ID (BDF), with a PASID for the "
       "process, or a device handle in their place"},
      {"BDF", "bus, device and function: the 16-bit Requester ID of PCIe"},
      {"PASID",
       "process address space identifier: 20 bits in a prefix or an OHC, which say whose "
       "address space a request means"},
      {"dhi",
       "device handle identifier: a short number that stands for BDF and PASID after an "
       "ALLOC message has said so"},
      {"ALLOC", "the message that gives a handle its meaning; DEALLOC takes it back"},
      {"residency", "TLPs that a handle serves from its ALLOC to its DEALLOC"},
      {"p50", "the median: half of the requests took at most so long"},
      {"p99", "99 of 100 requests took at most so long"},
      {"ATC", "address translation cache of a device"},
      {"IOTLB", "cache of translations in the IOMMU"},
      {"95 %",
       "interval that holds the long-run mean in 95 of 100 repetitions; from several seeds"},
      {"session", "one five-tuple, and so one path, of the several that an SRDMA group sends by"},
      {"flow", "the bytes that one sender has for one receiver"}};
  std::string items;
  for (const auto& [term, meaning] : kTerms) {
    if (page.find(term) != std::string::npos) {
      items += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", term, html_text(meaning));
    }
  }
  return items.empty() ? "" : html_details("Terms", "<dl class=\"terms\">\n" + items + "</dl>\n");
}

}  // namespace flitwise
