// SPDX-License-Identifier: Apache-2.0
/// The pieces of a self-contained HTML page: text, tables, the page around them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flitwise {

/// Text as HTML shows it: & < > " and ' are escaped.
std::string html_text(const std::string& text);

/// A table; columns of numbers are right-aligned.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<std::string> header) : header_(std::move(header)) {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool is_empty() const { return rows_.empty(); }
  std::size_t rows() const { return rows_.size(); }
  std::string html() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// Content behind a line that can be clicked open.
std::string html_details(const std::string& summary, const std::string& content);

/// A table with a row a point of a sweep; a long one has to be clicked open.
std::string table_of_points(const HtmlTable& table);

/// A page that needs no other file, no network and no script; light or dark as the reader's system.
struct HtmlPage {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< the head: version, seed ...
  std::string body;
  std::string html() const;
};

}  // namespace flitwise
