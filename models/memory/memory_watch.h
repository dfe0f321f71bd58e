// SPDX-License-Identifier: Apache-2.0
/// Somebody who wants to see each access that root ports let into host memory.
#pragma once

#include <cstdint>

#include "flitwise/packet.h"

namespace flitwise {

class MemoryWatch {
 public:
  virtual ~MemoryWatch() = default;
  /// address: where in memory, after translation. Changes nothing.
  virtual void accessed(const Packet& packet, std::uint64_t address) = 0;
};

}  // namespace flitwise
