// SPDX-License-Identifier: Apache-2.0
/// JUnit XML, as CI systems read it.
#pragma once

#include <string>
#include <vector>

namespace flitwise::scenario {

struct CaseReport {
  std::string id;
  std::string title;
  double seconds = 0;
  std::string failure;  ///< text for a person; empty where the case passed
};

std::string junit_xml(const std::vector<CaseReport>& reports);

}  // namespace flitwise::scenario
