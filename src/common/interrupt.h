// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C as a flag, so that a run can end early with its results written.
#pragma once

namespace flitwise {

/// From now on the first SIGINT or SIGTERM only sets the flag; the second one ends the process.
void watch_for_interrupt();

/// From now on SIGINT or SIGTERM ends the process at once: for whoever has written all that is
/// done.
void end_on_interrupt(int exit_code);

/// True after the first signal. Cheap: one load.
bool is_interrupted();

}  // namespace flitwise
