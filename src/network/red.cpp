// SPDX-License-Identifier: Apache-2.0
#include "network/red.h"

#include <fmt/format.h>

namespace flitwise {

std::string complaint_about(const RedRules& rules) {
  if (!rules.is_on) {
    return {};
  }
  if (rules.low > rules.high) {
    return fmt::format("a lower threshold of {} bytes seen; expected at most the upper one, {}",
                       rules.low, rules.high);
  }
  return rules.most > 0 && rules.most <= 1
             ? std::string()
             : fmt::format("a share of {} seen; expected more than 0, up to 1", rules.most);
}

}  // namespace flitwise
