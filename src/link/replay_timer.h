// SPDX-License-Identifier: Apache-2.0
/// The two timers of Ack and replay as times, for every carrier that has them.
#pragma once

#include "flitwise/config.h"
#include "flitwise/time.h"

namespace flitwise {

/// An Ack goes out so long after the first TLP or flit that waits for it, at the latest. [LNK-7.15]
/// [LNK-7.16] [LNK-11.7]
Time ack_limit(const LinkConfig& link);

/// From the last symbol of a TLP or flit to the arrival of its Ack, at the latest: the flight both
/// ways, and what the Ack waits for at the other end.
Time ack_return_time(const LinkConfig& link);

/// Replay timer limit: link.timing.replay_timeout, or that of the formulas. [LNK-7.18] [LNK-7.19]
/// [LNK-11.7]
Time replay_limit(const LinkConfig& link);

}  // namespace flitwise
