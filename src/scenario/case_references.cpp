// SPDX-License-Identifier: Apache-2.0
// same_as.
#include "scenario/case_references.h"

#include <algorithm>

namespace flitwise::scenario {

void check_references(const config::Value& document, const std::vector<Case>& cases,
                      config::ProblemList& problems) {
  std::vector<std::string> ids;
  for (const Case& one : cases) {
    ids.push_back(one.id);
  }
  for (const Case& one : cases) {
    const bool is_known = std::find(ids.begin(), ids.end(), one.same_as) != ids.end();
    const bool is_alone = cases.size() == 1 && is_known;  // it could only be compared with itself
    if (!one.same_as.empty() && (!is_known || is_alone)) {
      problems.add(document.find("same_as")->value.place, "same_as.case",
                   is_alone ? "is the case itself: '" + one.same_as + "'; expected another one"
                            : "no case of this file has the id '" + one.same_as + "'" +
                                  config::nearest_hint(one.same_as, ids, "case"));
      return;
    }
  }
}

}  // namespace flitwise::scenario
