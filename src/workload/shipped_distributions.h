// SPDX-License-Identifier: Apache-2.0
/// The published size distributions that travel inside the program (configs/data/sizes/*.csv).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace flitwise {

struct ShippedDistribution {
  std::string_view name;  ///< file name without .csv
  std::string_view csv;   ///< the whole file
};

/// CSV text of the distribution with this name (`google_rpc_2008`, ...); empty if none is called
/// so.
std::optional<std::string_view> shipped_distribution(std::string_view name);

/// All names, in alphabetical order.
std::vector<std::string_view> shipped_distribution_names();

}  // namespace flitwise
