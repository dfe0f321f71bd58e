// SPDX-License-Identifier: Apache-2.0
// flock on the log of the point, which nobody renames or takes away.
#include "sweep/point_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/atomic_file.h"
#include "common/interrupt.h"

namespace flitwise {

void remove_link(const std::string& log) {
  std::error_code none;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(log, none))) {
    std::filesystem::remove(log, none);
  }
}

PointLock::PointLock(const std::string& log) {
  constexpr mode_t kMode = 0666;  // less the umask
  remove_link(log);
  file_ = ::open(log.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, kMode);
  if (file_ < 0) {
    throw OutputError(fmt::format("{}: {}", log, std::generic_category().message(errno)));
  }
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    return;
  }
  fmt::print("another process runs this point; waiting for its end\n");
  std::fflush(stdout);
  try {
    while (::flock(file_, LOCK_EX) != 0 && is_to_be_tried_again()) {
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

PointLock::~PointLock() {
  ::close(file_);
}

bool PointLock::is_held(const std::string& log) {
  const int file = ::open(log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const bool is_held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return is_held;
}

}  // namespace flitwise
