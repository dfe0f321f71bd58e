// SPDX-License-Identifier: Apache-2.0
/// Access Control Services as software sets them at a downstream port.
#pragma once

#include <cstdint>
#include <vector>

#include "config_space/enumeration.h"
#include "flitwise/config.h"

namespace flitwise {

/// egress: ports that no peer may send requests to, by number.
AccessControl access_control(const AcsConfig& acs, const std::vector<unsigned>& egress = {});

}  // namespace flitwise
