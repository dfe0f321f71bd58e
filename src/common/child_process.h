// SPDX-License-Identifier: Apache-2.0
/// Runs another program and reads what it prints.
#pragma once

#include <string>
#include <vector>

namespace flitwise {

struct ChildProgram {
  std::vector<std::string> words;      ///< the program and its arguments
  const std::string* input = nullptr;  ///< its stdin, if any
  bool tells_stderr = false;           ///< its stderr is read like stdout, else passed on
};

struct ChildOutput {
  int exit_code = 0;  ///< 128 + signal where a signal ended it
  std::string text;   ///< what it printed
};

/// Waits for the end of the program. After an interrupt (watch_for_interrupt) it gets SIGTERM, and
/// SIGKILL if it goes on. Throws std::system_error when it cannot be started.
ChildOutput run_child(ChildProgram program);

}  // namespace flitwise
