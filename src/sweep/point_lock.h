// SPDX-License-Identifier: Apache-2.0
/// One process a point at a time, whichever engine has started it.
#pragma once

#include <string>

namespace flitwise {

/// Takes a link away that stands in the place of a log: nothing is written through it.
void remove_link(const std::string& log);

/// Holds the log of a point locked as long as it lives; the process that dies lets it go. Where the
/// file system knows no such locks there is none.
class PointLock {
 public:
  /// Makes the log if need be. Where another process has the lock, says so on stdout and waits for
  /// it. Throws Interrupted, and OutputError where there can be no log.
  explicit PointLock(const std::string& log);
  ~PointLock();
  PointLock(const PointLock&) = delete;
  PointLock& operator=(const PointLock&) = delete;

  /// True while a process holds it.
  static bool is_held(const std::string& log);

 private:
  int file_ = -1;
};

}  // namespace flitwise
