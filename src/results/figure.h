// SPDX-License-Identifier: Apache-2.0
/// One figure of a result by its path.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace flitwise {

/// The value at a path of keys and list indices, "links.0.up.replays"; nothing where there is none.
std::optional<nlohmann::ordered_json> figure_of(const nlohmann::ordered_json& result,
                                                const std::string& path);

}  // namespace flitwise
