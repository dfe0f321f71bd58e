// SPDX-License-Identifier: Apache-2.0
/// Flows from a CSV file with the header `time_ns,src,dst,bytes`, in constant memory.
#pragma once

#include <memory>
#include <string>

#include "workload/flow.h"

namespace flitwise {

/// The file is read twice: once here, whole, and once while its flows are made. Throws ConfigError
/// with its problems, each with line and column: a wrong header or field, falling times, hosts at
/// or above `hosts`, one that sends to itself, no bytes, a last line without its end, no line.
std::unique_ptr<FlowSource> trace_flows(const std::string& path, std::uint32_t hosts);

}  // namespace flitwise
