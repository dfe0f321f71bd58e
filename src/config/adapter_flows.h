// SPDX-License-Identifier: Apache-2.0
/// Flows between RDMA adapters, as workload.flows says them where workload.kind is flows: who is
/// which host, and what that makes of a device.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"
#include "topology/graph.h"
#include "workload/flow.h"

namespace flitwise {

/// Devices with adapters, in the order of the graph: host 0 is the first one. `configs`: of the
/// devices of the graph.
std::vector<std::size_t> adapter_hosts(const std::vector<Config>& configs);
/// All flows between the first so many hosts, in the order of their starts.
std::vector<Flow> adapter_flows(const Config& whole, std::size_t adapters);
/// Whom each of so many hosts sends to, in the order of its flows.
std::vector<std::vector<std::size_t>> receivers_of(const std::vector<Flow>& flows,
                                                   std::size_t adapters);
/// Fills in for a device of such a machine what follows from flows: the first peer that it sends
/// to, one queue pair for each peer, and its requests.
void set_flows(const std::vector<Flow>& flows, const std::vector<std::string>& names,
               std::size_t host, Config& device);

}  // namespace flitwise
