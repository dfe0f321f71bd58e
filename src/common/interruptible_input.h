// SPDX-License-Identifier: Apache-2.0
/// Input that Ctrl-C ends, also while nothing comes.
#pragma once

#include <array>
#include <streambuf>

namespace flitwise {

/// Bytes of a file descriptor, which stays the caller's. After a signal that watch_for_interrupt()
/// waits for it is at its end.
class InterruptibleInput : public std::streambuf {
 public:
  explicit InterruptibleInput(int file) : file_(file) {}
  /// It ended because it could not be read.
  bool has_failed() const { return has_failed_; }

 protected:
  int_type underflow() override;

 private:
  const int file_;
  bool has_failed_ = false;
  std::array<char, 4096> bytes_{};
};

}  // namespace flitwise
