// SPDX-License-Identifier: Apache-2.0
/// What gives a device its work in place of its DMA engine.
#pragma once

#include "flitwise/time.h"

namespace flitwise {

class DeviceSender {
 public:
  virtual ~DeviceSender() = default;
  /// It gives out work from now on.
  virtual void start(Time now) = 0;
};

}  // namespace flitwise
