// SPDX-License-Identifier: Apache-2.0
/// Names of the machine's instances, and which sections each may override.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"

namespace flitwise::config {

struct InstanceName {
  std::string name;                   ///< "ep0", "rp0", "sw0", "rp0-ep0", "rp0-sw0", "sw0-ep0"
  std::vector<std::string> sections;  ///< what its overrides may lie in
};

/// Every instance of the machine that the section `system` describes.
std::vector<InstanceName> instance_names(const SystemConfig& system);

/// The overrides applied to a copy of the whole.
Config with_overrides(const Config& config,
                      const std::vector<std::pair<std::string, std::string>>& overrides);

}  // namespace flitwise::config
