// SPDX-License-Identifier: Apache-2.0
/// Messages between a guest and whoever owns its clock (include/uapi/linux/um_timetravel.h of the
/// kernel): 16 bytes each, in both directions, in the byte order of the machine. Each is
/// acknowledged with its own number.
#pragma once

#include <cstdint>

namespace flitwise {

enum class TimeOp : std::uint32_t {
  kAck = 0,
  kStart = 1,      ///< a guest has come
  kRequest = 2,    ///< it wants to run at a time; the last one counts
  kWait = 3,       ///< it waits for the RUN of that time
  kGet = 4,        ///< the acknowledgement has the time
  kUpdate = 5,     ///< the time at which it is
  kRun = 6,        ///< from the owner of the clock: run, it is this time
  kFreeUntil = 7,  ///< likewise; not used here
  kGetTimeOfDay = 8,
  kBroadcast = 9,
};

struct TimeMessage {
  TimeOp op = TimeOp::kAck;
  std::uint32_t number = 0;
  std::uint64_t ns = 0;
};
static_assert(sizeof(TimeMessage) == 16);

}  // namespace flitwise
