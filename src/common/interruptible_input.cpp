// SPDX-License-Identifier: Apache-2.0
// Waits for bytes and signals at once: a signal just before a plain read would be missed.
#include "common/interruptible_input.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "common/interrupt.h"

namespace flitwise {
namespace {

/// Holds the signals back, save for those who wait with the mask of before.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

// As many bytes as there are; 0 at the end, less where it cannot be read.
ssize_t read_some(int file, char* bytes, std::size_t room) {
  const HeldSignals held;
  while (!is_interrupted()) {
    pollfd wanted{file, POLLIN, 0};
    if (::ppoll(&wanted, 1, nullptr, &held.before()) > 0) {
      return ::read(file, bytes, room);
    }
    if (errno != EINTR) {
      return -1;
    }
  }
  return 0;
}

}  // namespace

InterruptibleInput::int_type InterruptibleInput::underflow() {
  const ssize_t count = read_some(file_, bytes_.data(), bytes_.size());
  if (count <= 0) {
    has_failed_ = count < 0;
    return traits_type::eof();
  }
  setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
  return traits_type::to_int_type(bytes_[0]);
}

}  // namespace flitwise
