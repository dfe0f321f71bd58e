// SPDX-License-Identifier: Apache-2.0
/// A device that has fewer handles than domains take turns, while each miss waits for one.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"

namespace flitwise {

/// Appends one line a device; each says why, and what to change. [DHI D9]
void warn_of_stalls(const Config& whole, std::vector<std::string>& warnings);

}  // namespace flitwise
