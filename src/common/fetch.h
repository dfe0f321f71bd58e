// SPDX-License-Identifier: Apache-2.0
/// Asks the cache for what will be touched a little later. Where hundreds of hosts take turns, next
/// to nothing of one is in the cache when its turn comes; what is asked for together, and in time,
/// comes while others are worked on. Nothing but time depends on it.
///
/// So that few lines are asked for, members that each packet touches lie beside each other, and
/// what is behind them belongs to what happens seldom.
#pragma once

#include <cstddef>

namespace flitwise {

inline constexpr std::size_t kCacheLine = 64;

/// The lines of `bytes` from there on, which need not be there.
inline void fetch(const void* first, std::size_t bytes = 1) {
  const auto* const begin = static_cast<const char*>(first);
  for (std::size_t at = 0; at < bytes; at += kCacheLine) {
    __builtin_prefetch(begin + at, 1);
  }
  __asm__ volatile("");  // else GCC 12 finds that callers do nothing, and drops their calls
}

/// Those of an object from there on up to another place in it.
inline void fetch_between(const void* first, const void* end) {
  fetch(first,
        static_cast<std::size_t>(static_cast<const char*>(end) - static_cast<const char*>(first)));
}

}  // namespace flitwise
