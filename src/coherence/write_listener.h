// SPDX-License-Identifier: Apache-2.0
/// Who hears at the home when a write is over that had its GO with the pull of its data: no message
/// says so. [COH-3.11]
#pragma once

#include <cstdint>

namespace flitwise {

class WriteListener {
 public:
  virtual ~WriteListener() = default;
  /// Memory has what the cache at `port` wrote to the line; or the data never came, and nothing was
  /// written. It changes nothing at the home.
  virtual void write_over(std::uint8_t port, std::uint64_t line, bool is_written) = 0;
};

}  // namespace flitwise
