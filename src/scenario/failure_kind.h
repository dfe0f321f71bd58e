// SPDX-License-Identifier: Apache-2.0
/// What a case failed for, told apart so that a smaller case can be seen to fail for the same.
#pragma once

#include <string>

namespace flitwise::scenario {

/// Why the process of a case, which may take so many seconds, printed nothing: text for a person.
std::string text_of_silence(int exit_code, unsigned seconds);

/// The words from `key` to the end of the line; empty where it is nowhere.
std::string line_from(const std::string& text, const std::string& key);
/// What was expected first and what came instead, or how the process ended; the same for all cases
/// that fail for one reason.
std::string kind_of(const std::string& failure);

/// Can failures of this kind be tried again and again? Not those that take all the time there is.
bool is_quick(const std::string& kind);

}  // namespace flitwise::scenario
