// SPDX-License-Identifier: Apache-2.0
/// What the translation agent reaches through the host bridge: devices, and the host's handle
/// tables, to free handles. [DHI D15]
#pragma once

#include <cstdint>
#include <optional>

#include "dhi/handle_types.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"

namespace flitwise {

class DeviceWay {
 public:
  virtual ~DeviceWay() = default;
  /// `delay` from now, to the function that it names; false: no device is there.
  virtual bool send_message(PacketRef packet, Time delay) = 0;
};

class HandleTables {
 public:
  virtual ~HandleTables() = default;

  struct Device {
    Bdf first;               ///< function
    std::uint8_t epoch = 0;  ///< of its handles
  };
  /// The device that has the function; none where the host has no handles for one.
  virtual std::optional<Device> device_of(Bdf function) const = 0;
  /// The device has answered: frees what it covers, or books the refusal. Returns what came of it.
  virtual HandleStatus answered(Bdf function, const DeallocMessage& message,
                                HandleStatus answer) = 0;
};

}  // namespace flitwise
