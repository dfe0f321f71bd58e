// SPDX-License-Identifier: Apache-2.0
/// The sessions of a network of packets, in the order of their ends: those that have gone and those
/// that are there, if a packet has left by them.
#pragma once

#include <vector>

#include "network/network_ends.h"
#include "network/srdma_result.h"

namespace flitwise {

class NetworkAgents;

/// agents: null where sessions stand.
std::vector<SrdmaSessionResult> session_rows(const NetworkEnds& ends, const NetworkAgents* agents);

}  // namespace flitwise
