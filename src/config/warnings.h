// SPDX-License-Identifier: Apache-2.0
/// What is allowed and yet hardly meant: said on stderr, by `check` and before a run.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"

namespace flitwise {

/// One line each, with the key in front: "link.timing.replay_timeout: ...".
std::vector<std::string> config_warnings(const Config& config);

/// Of them, what says that a device has fewer handles than domains take turns, while each miss
/// waits for one: a line a device, with why, and what to change. [DHI D9]
void warn_of_stalls(const Config& whole, std::vector<std::string>& warnings);

}  // namespace flitwise
