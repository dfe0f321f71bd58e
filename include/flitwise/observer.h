// SPDX-License-Identifier: Apache-2.0
/// What a user of the library may watch while a machine runs.
#pragma once

#include <functional>

#include "flitwise/packet.h"
#include "flitwise/time.h"

namespace flitwise {

/// Something that happened to a TLP.
struct Observation {
  Time time;
  const char* place;  ///< module: "rp0", "ep0", ...
  const char* what;   ///< "committed", "message", "interrupt", or an error: "malformed_tlp",
                      ///< "unsupported_request", "completer_abort", "unexpected_completion"; from a
                      ///< monitor: "violation" or "warning", where the place is a link
  const char* detail;  ///< of an error: which rule or check, "crosses_4kib", "unmapped_address"; of
                       ///< a monitor: the id of the rule, "LNK-8.3"
  const Packet* packet;
  const char* other = "";  ///< of a violation: the packet, or the state, that it goes against
};

/// Called for each observation; must not change anything. Empty: nothing is observed.
using Observer = std::function<void(const Observation&)>;

}  // namespace flitwise
