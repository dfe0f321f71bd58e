// SPDX-License-Identifier: Apache-2.0
/// What a sender of one link direction may have to wait for before something can leave.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stats/stall_clock.h"

namespace flitwise {

/// The first six are header and data credits of each flow-control class, in the order of FcClass.
enum class LinkLimit : std::uint8_t {
  kPostedHeaders,
  kPostedData,
  kNonPostedHeaders,
  kNonPostedData,
  kCompletionHeaders,
  kCompletionData,
  kCxlReq,
  kCxlRsp,
  kCxlData,
  kReplayBuffer,
};
inline constexpr std::size_t kLinkLimits = 10;

/// By LinkLimit.
using LinkWaits = std::array<StallCount, kLinkLimits>;

}  // namespace flitwise
