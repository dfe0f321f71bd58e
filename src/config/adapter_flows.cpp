// SPDX-License-Identifier: Apache-2.0
#include "config/adapter_flows.h"

#include <algorithm>

#include "common/random.h"
#include "common/ranges.h"
#include "network/network_setup.h"
#include "workload/flow_stream.h"

namespace flitwise {

std::vector<std::size_t> adapter_hosts(const std::vector<Config>& configs) {
  std::vector<std::size_t> all;
  for (std::size_t device = 0; device < configs.size(); ++device) {
    if (configs[device].workload.via == WorkloadVia::kRdma) {
      all.push_back(device);
    }
  }
  return all;
}

std::vector<Flow> adapter_flows(const Config& whole, std::size_t adapters) {
  std::vector<Flow> all;
  if (adapters >= 2) {
    const auto source = flow_source(whole, static_cast<unsigned>(adapters), Random(whole.run.seed));
    for (Flow flow; source->next(flow);) {
      all.push_back(flow);
    }
  }
  return all;
}

std::vector<std::vector<std::size_t>> receivers_of(const std::vector<Flow>& flows,
                                                   std::size_t adapters) {
  std::vector<std::vector<std::size_t>> all(adapters);
  for (const Flow& flow : flows) {
    if (!contains(all[flow.source], std::size_t{flow.destination})) {
      all[flow.source].push_back(flow.destination);
    }
  }
  return all;
}

void set_flows(const std::vector<Flow>& flows, const std::vector<std::string>& names,
               std::size_t host, Config& device) {
  WorkloadConfig& workload = device.workload;
  std::vector<std::uint32_t> peers;
  device.device.rdma.peer.clear();
  workload.requests = 0;
  workload.rdma = {};
  workload.sizes.clear();
  workload.arrival = Arrival::kClosedLoop;
  device.run.warmup = 0;
  for (const Flow& flow : flows) {
    const bool sends = flow.source == host;
    if (!sends && flow.destination != host) {
      continue;
    }
    const std::uint32_t peer = sends ? flow.destination : flow.source;
    if (!contains(peers, peer)) {
      peers.push_back(peer);
    }
    if (sends && peer < names.size()) {
      std::string& first = device.device.rdma.peer;
      first = first.empty() ? names[peer] : first;
      workload.requests += pieces_of(flow, workload.payload);
    }
  }
  workload.domains = std::max(1U, static_cast<unsigned>(peers.size()));
}

}  // namespace flitwise
