// SPDX-License-Identifier: Apache-2.0
/// Runs another program and reads what it prints.
#pragma once

#include <string>
#include <vector>

namespace flitwise {

struct ChildOutput {
  int exit_code = 0;  ///< 128 + signal where a signal ended it
  std::string text;   ///< stdout
};

/// Waits for the end of the program words[0] with the arguments behind it; stderr is passed on, and
/// `input`, if there is one, is its stdin.
/// After an interrupt (watch_for_interrupt) the program is killed. Throws std::system_error when it
/// cannot be started.
ChildOutput run_child(std::vector<std::string> words, const std::string* input = nullptr);

}  // namespace flitwise
