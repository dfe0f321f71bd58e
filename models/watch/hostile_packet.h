// SPDX-License-Identifier: Apache-2.0
/// Which packets a hostile device has made.
#pragma once

#include "flitwise/packet.h"

namespace flitwise {

/// As against the TLPs of a script.
inline bool is_hostile(const Packet& packet) {
  return packet.is_raw && packet.request == 0;
}

}  // namespace flitwise
