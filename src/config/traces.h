// SPDX-License-Identifier: Apache-2.0
/// Traces of a machine's workloads, and those that are to be made of it, before anything runs.
#pragma once

#include "flitwise/config.h"

namespace flitwise {

/// Reads each trace once. Throws ConfigError with its problems, among them bytes that the machine
/// does not have. Scripts and cases do without: what a machine refuses is an answer there.
void check_traces(const Config& whole);

/// Some device has a network port with another one at the end of its wire.
bool has_network_port(const Config& whole);

}  // namespace flitwise
