// SPDX-License-Identifier: Apache-2.0
/// Parameters of a case file: which combinations there are, and how they are put into the text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/problems.h"
#include "config/document.h"

namespace flitwise::scenario {

using Parameters = std::map<std::string, std::string>;

/// One combination; its name makes the variant part of the case's id.
struct Variant {
  std::string name;  ///< empty where a file has no parameters
  Parameters values;
};

/// `matrix`: each key a list, all combinations; `variants`: a list of maps, with a `name` each or
/// named by their values. With both, each variant meets each combination.
std::vector<Variant> variants_of(const config::Value& document, config::ProblemList& problems);

/// Every parameter has to be used: cases that differ in nothing else are one case, many times.
void check_uses(const config::Value& document, config::ProblemList& problems);

/// The tree with each ${name} and ${formula} filled in; formulas are + - * / over parameters that
/// are numbers.
config::Value filled(const config::Value& tree, const Parameters& values,
                     config::ProblemList& problems);

}  // namespace flitwise::scenario
