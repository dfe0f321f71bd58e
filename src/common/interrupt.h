// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C as a flag, so that a run can end early with its results written.
#pragma once

#include <signal.h>

#include <exception>

namespace flitwise {

/// From now on the first SIGINT, SIGTERM or SIGHUP only sets the flag; one that comes more than 200
/// ms after it ends the process at once.
void watch_for_interrupt();

/// From now on such a signal ends the process at once: for whoever has nothing to write, or has
/// written all that is done.
void end_on_interrupt(int exit_code);

/// What a signal that ends the process at once leaves on stderr; null: nothing. `text` is constant.
void say_at_end(const char* text);

/// As long as it lives those signals wait: for what must not be left half done.
class BlockedInterrupts {
 public:
  BlockedInterrupts();
  ~BlockedInterrupts();
  BlockedInterrupts(const BlockedInterrupts&) = delete;
  BlockedInterrupts& operator=(const BlockedInterrupts&) = delete;

 private:
  sigset_t before_{};
};

/// True after the first signal. Cheap: one load.
bool is_interrupted();

/// The signal came while something waited that does not end by itself, as the reading of a FIFO
/// does. Ends in exit code 130.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// After a system call that failed: is it to be tried again? Throws Interrupted where a signal
/// ended it that ends the program.
bool is_to_be_tried_again();

}  // namespace flitwise
