// SPDX-License-Identifier: Apache-2.0
/// What gives a device its work in place of its DMA engine.
#pragma once

#include <cstddef>

#include "flitwise/time.h"

namespace flitwise {

class DeviceSender {
 public:
  virtual ~DeviceSender() = default;
  /// It gives out work from now on.
  virtual void start(Time now) = 0;
  /// Frames that have come ahead of others, and wait for these for good: those of a peer that
  /// forges some, say.
  virtual std::size_t held_frames() const { return 0; }
};

}  // namespace flitwise
