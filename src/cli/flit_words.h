// SPDX-License-Identifier: Apache-2.0
/// Words that flits have in JSON, for both directions.
#pragma once

#include <string>
#include <vector>

namespace flitwise::cli {

/// In the order of ReplayCommand.
inline const std::vector<std::string> kReplayCommands = {"explicit", "ack", "nak", "selective_nak"};

}  // namespace flitwise::cli
