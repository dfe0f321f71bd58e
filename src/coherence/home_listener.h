// SPDX-License-Identifier: Apache-2.0
/// Who hears of a home what no message says: how long requests wait for room among those at work
/// [COH-3.9], and that a write is over which had its GO with the pull of its data [COH-3.11]. It
/// changes nothing at the home.
#pragma once

#include <cstdint>

namespace flitwise {

class HomeListener {
 public:
  virtual ~HomeListener() = default;
  /// The request has the turn of its line. It is at work at once, or waits for room.
  virtual void has_turn(std::uint32_t token) = 0;
  /// The request of the cache at `port` is at work from now on.
  virtual void is_at_work(std::uint8_t port, std::uint32_t token) = 0;
  /// Memory has what the cache at `port` wrote to the line; or the data never came, and nothing was
  /// written.
  virtual void write_over(std::uint8_t port, std::uint64_t line, bool is_written) = 0;
};

}  // namespace flitwise
