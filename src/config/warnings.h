// SPDX-License-Identifier: Apache-2.0
/// What is allowed and yet hardly meant: said on stderr, by `check` and before a run.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"

namespace flitwise {

/// One line each, with the key in front: "link.timing.replay_timeout: ...".
std::vector<std::string> config_warnings(const Config& config);

}  // namespace flitwise
