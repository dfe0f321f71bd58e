// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C as a flag, so that a run can end early with its results written.
#pragma once

#include <signal.h>

namespace flitwise {

/// From now on the first SIGINT, SIGTERM or SIGHUP only sets the flag; the second one ends the
/// process.
void watch_for_interrupt();

/// From now on such a signal ends the process at once: for whoever has nothing to write, or has
/// written all that is done.
void end_on_interrupt(int exit_code);

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

}  // namespace flitwise
