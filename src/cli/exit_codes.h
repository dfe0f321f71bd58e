// SPDX-License-Identifier: Apache-2.0
/// How the program ends.
#pragma once

namespace flitwise::cli {

inline constexpr int kOk = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadInput = 2;  ///< also: not modelled yet
inline constexpr int kSimulationError = 3;
inline constexpr int kSweepIncomplete = 4;
inline constexpr int kUsage = 64;
inline constexpr int kInterrupted = 130;

}  // namespace flitwise::cli
