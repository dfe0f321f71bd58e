// SPDX-License-Identifier: Apache-2.0
/// Flows that are known beforehand: as work of the device of their host, and one by one.
#pragma once

#include <memory>
#include <vector>

#include "workload/flow.h"
#include "workload/workload.h"

namespace flitwise {

/// Writes of up to `piece` bytes of domain 0, one behind the other; those of a flow from its start
/// on. REQUIRES: flows in the order of their starts, none of which waits for another one.
std::unique_ptr<Workload> flow_stream(std::vector<Flow> flows, Bytes piece);
/// How many that are.
std::uint64_t pieces_of(const Flow& flow, Bytes piece);

/// These, in their order.
std::unique_ptr<FlowSource> listed_flows(std::vector<Flow> flows);

}  // namespace flitwise
