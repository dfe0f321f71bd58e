// SPDX-License-Identifier: Apache-2.0
// Warnings, one function each.
#include "config/warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/handle_warnings.h"
#include "config/load.h"
#include "link/replay_timer.h"

namespace flitwise {
namespace {

using Warnings = std::vector<std::string>;

/// A timer set by hand that runs out before an Ack can be there has everything sent again in vain.
/// [LNK-7.18]
void warn_of_short_replay_timer(const Config& config, Warnings& warnings) {
  const LinkConfig& link = config.link;
  const Time set = link.timing.replay_timeout;
  if (set.fs == 0 || link.carrier == Carrier::kBitPacked) {
    return;
  }
  const Time needed = ack_return_time(link);
  if (set < needed) {
    warnings.push_back(
        fmt::format("link.timing.replay_timeout: {:.1f} ns, but an Ack may take {:.1f} ns to come "
                    "back, so that TLPs go again in vain; expected at least that, or auto",
                    set.ns(), needed.ns()));
  }
}

Warnings warnings_of(const Config& config) {
  Warnings warnings;
  warn_of_short_replay_timer(config, warnings);
  return warnings;
}

}  // namespace

std::vector<std::string> config_warnings(const Config& config) {
  Warnings all = warnings_of(config);
  const Warnings of_all = all;
  warn_of_stalls(config, all);
  for (const auto& [name, overrides] : config.instances) {
    for (const std::string& warning : warnings_of(for_instance(config, name))) {
      if (std::find(of_all.begin(), of_all.end(), warning) == of_all.end()) {
        all.push_back(fmt::format("system.instances.{}.{}", name, warning));
      }
    }
  }
  return all;
}

}  // namespace flitwise
