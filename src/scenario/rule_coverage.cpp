// SPDX-License-Identifier: Apache-2.0
// Rules and the cases that prove them.
#include "scenario/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "common/problems.h"

namespace flitwise::scenario {
namespace {

// "LNK-" of LNK-7.13, "DHI D" of DHI D9, "VB-C" of VB-C1.
std::string family_of(const std::string& id) {
  return id.substr(0, id.find_first_of("0123456789"));
}

void read_page(const std::string& page, RuleCoverage& coverage, std::vector<std::string>& waiting) {
  // LNK-7.13, DHI D9, DHI S1, PAS-06, VB-C1
  static const std::regex kId(R"(\b[A-Z]{2,3}-C?\d+(\.\d+)?|DHI [DS]\d+)");
  std::istringstream lines(page);
  std::string line;
  bool is_table_of_missing = false;
  while (std::getline(lines, line)) {
    if (line.rfind('#', 0) == 0) {
      is_table_of_missing = line.find("Not modelled") != std::string::npos;
    }
    const std::sregex_iterator first(line.begin(), line.end(), kId), none;
    if (line.rfind("- ", 0) == 0 && first != none && first->position() == 2) {
      coverage.rules.push_back({first->str(), false, {}});
    } else if (is_table_of_missing && line.rfind('|', 0) == 0) {
      std::transform(first, none, std::back_inserter(waiting),
                     [](const std::smatch& named) { return named.str(); });
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
      if (rule != by_id.end()) {
        ++rule->second->cases[one.stem];
      }
    }
  }
  return coverage;
}

std::vector<Problem> unknown_cites(const RuleCoverage& coverage, const std::vector<Case>& cases) {
  std::vector<std::string> known;
  std::set<std::string> families;
  for (const RuleCoverage::Rule& rule : coverage.rules) {
    known.push_back(rule.id);
    families.insert(family_of(rule.id));
  }
  const std::set<std::string> ids(known.begin(), known.end());
  std::vector<Problem> problems;
  for (const Case& one : cases) {
    for (const std::string& cite : one.cites) {
      if (ids.count(cite) == 0 && families.count(family_of(cite)) != 0) {
        problems.push_back({one.file, one.place.line, one.place.column, "cites",
                            fmt::format("case {}: docs/rules states no rule '{}'{}", one.id, cite,
                                        config::nearest_hint(cite, known, "rule"))});
      }
    }
  }
  return problems;
}

std::string coverage_text(const RuleCoverage& coverage) {
  std::vector<std::string> proved, open, waits;  // lines
  for (const RuleCoverage::Rule& rule : coverage.rules) {
    std::string names;
    for (const auto& [stem, count] : rule.cases) {
      names += (names.empty() ? "" : ", ") + stem;
      names += count > 1 ? fmt::format(" ({})", count) : "";
    }
    if (!rule.cases.empty()) {
      proved.push_back(fmt::format("  {:<10} {}\n", rule.id, names));
    } else {
      (rule.waits ? waits : open).push_back("  " + rule.id + "\n");
    }
  }
  return fmt::format(
      "{} rules have a case:\n{}\n{} rules have none:\n{}\n{} wait for a model that is not built "
      "yet:\n{}",
      proved.size(), fmt::join(proved, ""), open.size(), fmt::join(open, ""), waits.size(),
      fmt::join(waits, ""));
}

}  // namespace flitwise::scenario
