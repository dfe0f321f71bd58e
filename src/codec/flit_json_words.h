// SPDX-License-Identifier: Apache-2.0
/// Words that flits have in JSON, for both directions.
#pragma once

#include <string>
#include <vector>

namespace flitwise {

/// In the order of ReplayCommand.
inline const std::vector<std::string>& replay_commands() {
  static const std::vector<std::string> kWords = {"explicit", "ack", "nak", "selective_nak"};
  return kWords;
}

}  // namespace flitwise
