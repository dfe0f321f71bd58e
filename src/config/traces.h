// SPDX-License-Identifier: Apache-2.0
/// Traces of a machine's workloads, before anything runs.
#pragma once

#include "flitwise/config.h"

namespace flitwise {

/// Reads each trace once. Throws ConfigError with its problems, among them bytes that the machine
/// does not have. Scripts and cases do without: what a machine refuses is an answer there.
void check_traces(const Config& whole);

}  // namespace flitwise
