// SPDX-License-Identifier: Apache-2.0
/// Which handles each device of a configuration may use. [DHI D2] [DHI D6]
#pragma once

#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "topology/graph.h"

namespace flitwise {

/// Which devices have a number space in common, so that their handles are kept apart: of each one
/// in the order of Graph::devices(), the first of its group. [DHI D2] [DHI D23]
std::vector<std::size_t> handle_groups(const Config& whole, const Graph& graph);

/// By device; bits: device.dhi.bits of each. Devices that share a number space get ranges apart,
/// the others all that their width names.
std::vector<HandleRange> handle_ranges(const Config& whole, const Graph& graph,
                                       const std::vector<unsigned>& bits);

}  // namespace flitwise
