// SPDX-License-Identifier: Apache-2.0
// No latency, but errors.
#include "results/refusal_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/text_table.h"

namespace flitwise {

std::string refusal_text(const RunResult& result) {
  const bool has_traffic =
      std::any_of(result.rows<LinkResult>().begin(), result.rows<LinkResult>().end(),
                  [](const LinkResult& link) { return link.up.tlps + link.down.tlps != 0; });
  const bool has_success =
      std::any_of(result.rows<LatencyResult>().begin(), result.rows<LatencyResult>().end(),
                  [](const LatencyResult& latency) { return latency.count != 0; });
  std::string kinds;
  for (const auto& [kind, count] : result.errors) {
    if (count != 0) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind, with_thousands(count));
    }
  }
  if (!has_traffic || has_success || kinds.empty() || !result.rows<AttackResult>().empty()) {
    return "";
  }
  return fmt::format(
      "No request succeeded: none reached memory or was answered with its data ({}).", kinds);
}

}  // namespace flitwise
