// SPDX-License-Identifier: Apache-2.0
#include "network/path_choice.h"

#include <fmt/format.h>

namespace flitwise {

std::string complaint_about(const PathRules& rules) {
  const auto& adaptive = rules.adaptive;
  if ((adaptive.value & ~adaptive.mask) != 0) {
    return fmt::format("class {:#04x} with mask {:#04x} fits no packet; expected bits of the mask",
                       adaptive.value, adaptive.mask);
  }
  if (adaptive.level == 0) {
    return "levels of 0 seen; expected at least 1";
  }
  const std::uint32_t entries = adaptive.flowlet_entries;
  if (entries == 0 || (entries & (entries - 1)) != 0) {
    return fmt::format("{} entries of flowlets seen; expected a power of two", entries);
  }
  return {};
}

PathChoice::PathChoice(const PathRules& rules, std::uint32_t seed, Random random)
    : rules_(rules),
      seed_(seed),
      random_(random),
      flowlets_(rules.adaptive.is_by_flowlet ? rules.adaptive.flowlet_entries : 0) {}

}  // namespace flitwise
