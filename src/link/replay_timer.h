// SPDX-License-Identifier: Apache-2.0
/// The two timers of Ack and replay: how late an Ack or an UpdateFC may be, and how long a
/// transmitter waits before it replays.
#pragma once

#include "flitwise/config.h"
#include "flitwise/time.h"

namespace flitwise {

/// Ack latency limit in symbol times for a link of `lanes` lanes; also the UpdateFC guideline.
/// [LNK-7.16, LNK-7.17]
constexpr unsigned ack_limit_symbols(unsigned generation, unsigned lanes, unsigned mps_bytes) {
  const unsigned internal_delay = generation == 1 ? 19 : generation == 2 ? 70 : 115;
  // AckFactor in tenths.
  unsigned factor = 0;
  if (mps_bytes <= 256) {
    factor = lanes <= 4 ? 14 : lanes == 8 ? 25 : 30;
  } else {
    factor = lanes <= 8 ? 10 : 20;
  }
  return (mps_bytes + 28) * factor / (10 * lanes) + internal_delay;
}

/// The replay timer limit is so many Ack latency limits; the round trip comes on top. [LNK-7.18]
inline constexpr unsigned kReplayAckLimits = 3;
/// Simplified REPLAY_TIMER, mandatory from 16 GT/s on: 24,000 to 31,000 symbol times; unverified,
/// hence named. [LNK-7.19]
inline constexpr unsigned kSimplifiedReplayTimerSymbols = 24'000;
inline constexpr unsigned kSimplifiedReplayTimerGeneration = 4;

/// A link has failed that takes more tries than that for each TLP which arrives, for long. model:
/// our choice (docs/statistics.md, "When a run ends by itself")
inline constexpr unsigned kMostTries = 10;

/// An Ack goes out so long after the first TLP or flit that waits for it, at the latest. [LNK-7.15]
/// [LNK-7.16] [LNK-11.7]
Time ack_limit(const LinkConfig& link);

/// Propagation and what each end takes to receive, there and back.
Time flight_both_ways(const LinkConfig& link);

/// From the last symbol of a TLP or flit to the arrival of its Ack, at the latest: the flight both
/// ways, and what the Ack waits for at the other end.
Time ack_return_time(const LinkConfig& link);

/// Replay timer limit: link.timing.replay_timeout, or that of the formulas. [LNK-7.18] [LNK-7.19]
/// [LNK-11.7]
Time replay_limit(const LinkConfig& link);

}  // namespace flitwise
