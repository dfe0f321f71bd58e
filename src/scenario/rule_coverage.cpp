// SPDX-License-Identifier: Apache-2.0
// Rules and the cases that prove them.
#include "scenario/rule_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

namespace flitwise::scenario {
namespace {

constexpr std::size_t kCasesShown = 3;

const std::regex& rule_id() {
  static const std::regex id(R"((LNK-\d+\.\d+|DHI [DS]\d+|DHI-\d+))");
  return id;
}

void read_page(const std::string& page, RuleCoverage& coverage, std::vector<std::string>& waiting) {
  std::istringstream lines(page);
  std::string line;
  bool is_table_of_missing = false;
  while (std::getline(lines, line)) {
    if (line.rfind('#', 0) == 0) {
      is_table_of_missing = line.find("Not modelled yet") != std::string::npos;
    }
    std::smatch match;
    if (line.rfind("- ", 0) == 0 && std::regex_search(line, match, rule_id()) &&
        match.position() == 2) {
      coverage.rules.push_back({match.str(), false, {}});
    } else if (is_table_of_missing && line.rfind('|', 0) == 0) {
      for (std::sregex_iterator it(line.begin(), line.end(), rule_id());
           it != std::sregex_iterator(); ++it) {
        waiting.push_back(it->str());
      }
    }
  }
}

}  // namespace

RuleCoverage coverage_of(const std::vector<std::string>& pages, const std::vector<Case>& cases) {
  RuleCoverage coverage;
  std::vector<std::string> waiting;
  for (const std::string& page : pages) {
    read_page(page, coverage, waiting);
  }
  std::map<std::string, RuleCoverage::Rule*> by_id;
  for (RuleCoverage::Rule& rule : coverage.rules) {
    rule.waits = std::find(waiting.begin(), waiting.end(), rule.id) != waiting.end();
    by_id[rule.id] = &rule;
  }
  for (const Case& one : cases) {
    for (const std::string& cite : one.cites) {
      const auto rule = by_id.find(cite);
      if (rule == by_id.end()) {
        coverage.unknown.push_back(cite + " (case " + one.id + ")");
      } else {
        rule->second->cases.push_back(one.id);
      }
    }
  }
  return coverage;
}

std::string coverage_text(const RuleCoverage& coverage) {
  std::string proved, open, waits;
  unsigned proved_count = 0, open_count = 0, waits_count = 0;
  for (const RuleCoverage::Rule& rule : coverage.rules) {
    if (!rule.cases.empty()) {
      ++proved_count;
      std::string names;
      for (std::size_t i = 0; i < std::min(rule.cases.size(), kCasesShown); ++i) {
        names += (names.empty() ? "" : ", ") + rule.cases[i];
      }
      const std::size_t more = rule.cases.size() - std::min(rule.cases.size(), kCasesShown);
      proved += fmt::format("  {:<10} {}{}\n", rule.id, names,
                            more > 0 ? fmt::format(" and {} more", more) : "");
    } else if (rule.waits) {
      ++waits_count;
      waits += "  " + rule.id + "\n";
    } else {
      ++open_count;
      open += "  " + rule.id + "\n";
    }
  }
  return fmt::format(
      "{} rules have a case:\n{}\n{} rules have none:\n{}\n{} wait for a model that is not built "
      "yet:\n{}",
      proved_count, proved, open_count, open, waits_count, waits);
}

}  // namespace flitwise::scenario
