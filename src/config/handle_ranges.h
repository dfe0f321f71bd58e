// SPDX-License-Identifier: Apache-2.0
/// Which handles each device of a configuration may use. [DHI D2] [DHI D6]
#pragma once

#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/config.h"

namespace flitwise {

/// Devices have a number space in common, so that their handles are kept apart. [DHI D2] [DHI D23]
bool share_handles(const Config& whole);

/// By device; bits: device.dhi.bits of each. Devices that share a number space get ranges apart,
/// the others all that their width names.
std::vector<HandleRange> handle_ranges(const Config& whole, const std::vector<unsigned>& bits);

}  // namespace flitwise
