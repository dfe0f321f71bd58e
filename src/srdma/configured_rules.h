// SPDX-License-Identifier: Apache-2.0
/// What an adapter and a host of packet mode alike take from device.srdma.*; the rest is each
/// one's.
#pragma once

#include "flitwise/config.h"
#include "srdma/connection_manager.h"
#include "srdma/port_pairs.h"
#include "srdma/session_groups.h"

namespace flitwise {

void take_from(const SrdmaConfig& srdma, SessionRules& rules);  ///< limits, times and keys
void take_from(const SrdmaConfig& srdma, PortRules& rules);
void take_from(const SrdmaConfig& srdma, CmRules& rules);  ///< times, and capabilities but the MTU

/// The key to change where rates and windows hold senders back; empty: by no kind that sessions
/// have are queues shorter.
const char* pace_key(const SrdmaConfig& srdma);

}  // namespace flitwise
