// SPDX-License-Identifier: Apache-2.0
/// Which rules of docs/rules the catalogue proves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {

struct RuleCoverage {
  struct Rule {
    std::string id;                         ///< "LNK-7.13", "DHI D9", "DHI-06"
    bool waits = false;                     ///< stands in a table of what is not modelled yet
    std::map<std::string, unsigned> cases;  ///< stems of ids, and how many cases each gives
  };
  std::vector<Rule> rules;  ///< in the order of the pages
};

/// `pages`: texts of docs/rules/*.md. A rule is a list item that begins with its id; it waits where
/// a row under a heading "Not modelled" names it.
RuleCoverage coverage_of(const std::vector<std::string>& pages, const std::vector<Case>& cases);

/// Cites of a rule that no page states, though rules of its family (what stands before its first
/// digit) are there; other families are the user's own. One problem each, at the place of the case.
std::vector<Problem> unknown_cites(const RuleCoverage& coverage, const std::vector<Case>& cases);

/// Three lists with their counts: proved and by what, proved by no case, waiting for a model.
std::string coverage_text(const RuleCoverage& coverage);

}  // namespace flitwise::scenario
