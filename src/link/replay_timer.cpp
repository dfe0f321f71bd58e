// SPDX-License-Identifier: Apache-2.0
// Ack latency limit and replay timer limit of a link.
#include "link/replay_timer.h"

#include <algorithm>

#include "link/flit_framer.h"
#include "link/lane_stream.h"

namespace flitwise {
namespace {

constexpr unsigned kTlpOverheadBytes = 28;  // of the largest TLP, as in LNK-7.16

Time symbol_times(const LinkConfig& link, unsigned count) {
  const LineCoding coding = line_coding(link.preset, link.skp);
  return Time{coding.unit_interval_fs * static_cast<std::int64_t>(coding.ui_per_row)} * count;
}

unsigned mps_of(const LinkConfig& link) {
  return static_cast<unsigned>(link.mps);
}

// Where every TLP is acknowledged by itself, its Ack waits for one TLP on the wire at most.
Time wait_for_ack(const LinkConfig& link) {
  const unsigned lanes = link.preset.lanes;
  return link.ack_coalesce == 1
             ? symbol_times(link, (mps_of(link) + kTlpOverheadBytes + lanes - 1) / lanes)
             : ack_limit(link);
}

}  // namespace

Time flight_both_ways(const LinkConfig& link) {
  const Time decoder = link.is_in_flit_mode() ? link.timing.fec : Time{};
  return (link.timing.propagation + link.timing.receive + decoder) * 2;
}

Time ack_limit(const LinkConfig& link) {
  if (link.is_in_flit_mode()) {
    return flit_time(link.preset) * kAckLimitFlits;
  }
  return symbol_times(link,
                      ack_limit_symbols(link.preset.generation, link.preset.lanes, mps_of(link)));
}

// In flit mode the flits that the Ack waits for, at both ends, count as well. model: our choice.
Time ack_return_time(const LinkConfig& link) {
  if (link.is_in_flit_mode()) {
    return flight_both_ways(link) + ack_limit(link) + flit_time(link.preset) * 4 +
           link.timing.clock * 4;
  }
  return flight_both_ways(link) + wait_for_ack(link);
}

Time replay_limit(const LinkConfig& link) {
  if (link.timing.replay_timeout.fs > 0) {
    return link.timing.replay_timeout;
  }
  if (link.is_in_flit_mode()) {
    return std::max(flit_time(link.preset) * kReplayLimitFlits, ack_return_time(link));
  }
  const Time classic = ack_limit(link) * kReplayAckLimits + flight_both_ways(link);
  return link.preset.generation < kSimplifiedReplayTimerGeneration
             ? classic
             : std::max(symbol_times(link, kSimplifiedReplayTimerSymbols), classic);
}

}  // namespace flitwise
