// SPDX-License-Identifier: Apache-2.0
/// The words of the event language, so that a misspelt one is refused instead of never matching.
#pragma once

#include <string>
#include <vector>

namespace flitwise::scenario {

/// "wire", "committed", ...
const std::vector<std::string>& event_names();
/// Every field that some event may have, those of all packets included.
const std::vector<std::string>& event_fields();

}  // namespace flitwise::scenario
