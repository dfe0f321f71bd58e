// SPDX-License-Identifier: Apache-2.0
// Rules and the cases that prove them.
#include "scenario/rule_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace flitwise::scenario {
namespace {

constexpr std::size_t kCasesShown = 3;

std::size_t digits_at(const std::string& text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  return end - std::min(at, end);
}

// The rule id that begins here, such as LNK-7.13, DHI D9, DHI S1 or DHI-06; else nothing.
std::string rule_id_at(const std::string& text, std::size_t at) {
  std::size_t length = 4;
  if (text.compare(at, length, "LNK-") == 0) {
    const std::size_t section = digits_at(text, at + length);
    length += section + 1;
    const bool is_whole = section > 0 && at + length <= text.size() && text[at + length - 1] == '.';
    const std::size_t number = is_whole ? digits_at(text, at + length) : 0;
    return number > 0 ? text.substr(at, length + number) : "";
  }
  const bool is_rule =
      text.compare(at, length, "DHI ") == 0 && text.find_first_of("DS", at + length) == at + length;
  length += is_rule ? 1 : 0;
  if (!is_rule && text.compare(at, length, "DHI-") != 0) {
    return "";
  }
  const std::size_t number = digits_at(text, at + length);
  return number > 0 ? text.substr(at, length + number) : "";
}

void read_page(const std::string& page, RuleCoverage& coverage, std::vector<std::string>& waiting) {
  std::istringstream lines(page);
  std::string line;
  bool is_table_of_missing = false;
  while (std::getline(lines, line)) {
    if (line.rfind('#', 0) == 0) {
      is_table_of_missing = line.find("Not modelled") != std::string::npos;
    }
    const std::string id = line.rfind("- ", 0) == 0 ? rule_id_at(line, 2) : "";
    if (!id.empty()) {
      coverage.rules.push_back({id, false, {}});
    } else if (is_table_of_missing && line.rfind('|', 0) == 0) {
      for (std::size_t at = 0; at < line.size(); ++at) {
        if (const std::string named = rule_id_at(line, at); !named.empty()) {
          waiting.push_back(named);
        }
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
