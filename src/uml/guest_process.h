// SPDX-License-Identifier: Apache-2.0
/// A guest kernel as a child process: started so that each run is like the other, with its console
/// on a pipe, and ended with all that it has started.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "uml/owned_file.h"

namespace flitwise {

class GuestProcess {
 public:
  /// Starts the program in the folder. Throws std::system_error where it cannot be.
  GuestProcess(const std::vector<std::string>& words, const std::string& folder,
               std::function<void(const std::string& text)> console);
  ~GuestProcess() { end(); }
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  /// Passes on what the console has said; false once the process has ended.
  bool look();
  /// Waits for the end so long, of real time, then ends it.
  void wait(double seconds);
  /// It left by itself, with exit code 0.
  bool ended_well() const { return has_ended_ && status_ == 0; }
  /// How it ended, in plain words.
  std::string end_text() const;
  /// The last lines of its console.
  std::string last_lines() const;

 private:
  void read_console();
  void end();

  const std::function<void(const std::string&)> console_;
  OwnedFile output_, input_;  // ours
  pid_t child_ = -1;
  bool has_ended_ = false;
  bool was_killed_ = false;  // by us
  int status_ = 0;
  std::string tail_;
};

}  // namespace flitwise
