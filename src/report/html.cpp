// SPDX-License-Identifier: Apache-2.0
// HTML made of strings.
#include "report/html.h"

#include <fmt/format.h>

#include <cstdlib>

#include "common/embedded.h"
#include "common/ranges.h"

namespace flitwise {
namespace {

bool is_number(const std::string& text) {
  if (text.empty() || text == "-") {
    return true;
  }
  std::string digits = text;
  digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
  char* end = nullptr;
  std::strtod(digits.c_str(), &end);
  return end != digits.c_str() && (*end == '\0' || *end == ' ');
}

}  // namespace

std::string html_text(const std::string& text) {
  constexpr std::pair<char, const char*> kEntities[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string escaped;
  for (const char c : text) {
    const auto* const entity =
        find_where(kEntities, [c](const auto& one) { return one.first == c; });
    escaped += entity == nullptr ? std::string(1, c) : entity->second;
  }
  return escaped;
}

std::string script_text(const std::string& json) {
  std::string text;
  for (const char c : json) {
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return text;
}

std::string HtmlTable::html() const {
  std::vector<bool> numeric(header_.size(), true);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < numeric.size() && i < row.size(); ++i) {
      numeric[i] = numeric[i] && is_number(row[i]);
    }
  }
  const auto cell = [&](const char* tag, std::size_t column, const std::string& text) {
    const char* kind = column < numeric.size() && numeric[column] ? " class=\"n\"" : "";
    return fmt::format("<{}{}>{}</{}>", tag, kind, html_text(text), tag);
  };
  std::string html = "<div class=\"scroll\"><table><thead><tr>";
  for (std::size_t i = 0; i < header_.size(); ++i) {
    html += cell("th", i, header_[i]);
  }
  html += points_.empty() ? "" : "<th></th>";
  html += "</tr></thead><tbody>\n";
  for (std::size_t at = 0; at < rows_.size(); ++at) {
    const std::vector<std::string>& row = rows_[at];
    const std::string id = html_text(ids_[at]);
    html += id.empty() ? "<tr>" : "<tr id=\"p-" + id + "\">";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += cell("td", i, row[i]);
    }
    html += id.empty() || points_.empty()
                ? "</tr>\n"
                : fmt::format("<td><a href=\"{}/{}.json\">result</a></td></tr>\n",
                              html_text(points_), id);
  }
  return html + "</tbody></table></div>\n";
}

std::string html_details(const std::string& summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html_text(summary), content);
}

std::string table_of_points(const HtmlTable& table) {
  constexpr std::size_t kMostOpen = 24;
  return table.rows() <= kMostOpen
             ? table.html()
             : html_details(fmt::format("Table of {} points", table.rows()), table.html());
}

std::string HtmlPage::html() const {
  const auto head = sum_of(facts, [](const auto& fact) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_text(fact.first),
                       html_text(fact.second));
  });
  const auto has = [this](const char* part) { return body.find(part) != std::string::npos; };
  const bool is_over_time = has("<figure class=\"over-time");
  std::string scripts;
  if (has("<figure class=\"chart")) {
    scripts += fmt::format("<script>\n{}</script>\n", embedded::report_libraries());
  }
  if (is_over_time) {
    scripts += fmt::format("<script>\n{}</script>\n", embedded::uplot_library());
  }
  if (!scripts.empty()) {
    scripts += fmt::format("<script>\n{}</script>\n", embedded::report_js());
  }
  const std::string css =
      embedded::report_css() + std::string(is_over_time ? embedded::uplot_css() : "");
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      // Whatever stands in the page: nothing of it asks a network. Vega makes functions of
      // formulas.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:\">\n"
      "<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n"
      "<dl class=\"facts\">\n{2}</dl>\n{3}</main>\n{4}</body>\n</html>\n",
      html_text(title), css, head, body, scripts);
}

}  // namespace flitwise
