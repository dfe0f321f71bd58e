// SPDX-License-Identifier: Apache-2.0
/// Which rules of docs/rules the catalogue proves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace flitwise::scenario {

struct RuleCoverage {
  struct Rule {
    std::string id;      ///< "LNK-7.13", "DHI D9", "DHI-06"
    bool waits = false;  ///< stands in a table of what is not modelled yet
    std::vector<std::string> cases;
  };
  std::vector<Rule> rules;           ///< in the order of the pages
  std::vector<std::string> unknown;  ///< cited, and on no page: "DHI-99 (case X)"
};

/// `pages`: texts of docs/rules/*.md. A rule is a list item that begins with its id; it waits where
/// a row under a heading "Not modelled" names it.
RuleCoverage coverage_of(const std::vector<std::string>& pages, const std::vector<Case>& cases);

/// Three lists with their counts: proved and by what, proved by no case, waiting for a model.
std::string coverage_text(const RuleCoverage& coverage);

}  // namespace flitwise::scenario
