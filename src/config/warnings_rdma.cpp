// SPDX-License-Identifier: Apache-2.0
// RDMA adapters with figures that their author hardly meant.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/quantity.h"
#include "config/instances.h"
#include "config/load.h"
#include "config/names.h"
#include "config/relations.h"
#include "endpoint/domain_numbers.h"
#include "network/network_setup.h"
#include "rdma/rdma_area.h"

namespace flitwise::config {
namespace {

using Warnings = std::vector<std::string>;

/// All that it sends is taken for lost before an acknowledgement can be there. [LR-3]
void warn_of_short_retry(const Config& config, const std::string& device, Warnings& warnings) {
  const RdmaConfig& rdma = config.device.rdma;
  const Time retry = Time::from_ps(4'096'000) * (std::int64_t{1} << rdma.timeout);
  const Time way = rdma.port.propagation * 2;
  if (!rdma.peer.empty() && rdma.timeout > 0 && retry < way) {
    warnings.push_back(fmt::format(
        "device.rdma.timeout: {} retries after {:.1f} us at {}, but an acknowledgement takes "
        "{:.1f} "
        "us to come back by device.rdma.port.propagation alone, so that packets are sent again in "
        "vain; expected a larger value",
        rdma.timeout, retry.ns() / 1'000, device, way.ns() / 1'000));
  }
}

/// Firmware translates no structure that straddles a page. [EP-2]
void warn_of_straddling(const Config& config, const std::string& device, Warnings& warnings) {
  const WorkloadConfig& workload = config.workload;
  const RdmaConfig& rdma = config.device.rdma;
  const auto functions = static_cast<std::uint32_t>(
      std::min<std::size_t>(workload_functions(config.device).size(), workload.domains));
  if (!rdma.pretranslation.is_on || functions == 0) {
    return;
  }
  const RdmaGeometry geometry = {workload.buffer_size,
                                 rdma.queue,
                                 rdma.cq,
                                 rdma.cqe,
                                 workload.sizes.empty() ? workload.payload : workload.size_cap,
                                 (workload.domains + functions - 1) / functions};
  const std::uint64_t page = rdma.pretranslation.page_size;
  unsigned straddle = 0;
  for (std::uint32_t place = 0; place < functions; ++place) {
    const std::uint64_t base = workload.buffer_base + place * workload.buffer_size;
    for (const StructurePlace& one : structures_at(geometry, base)) {
      const bool fits = one.bytes <= page;
      straddle += fits && one.address / page != (one.address + one.bytes - 1) / page ? 1 : 0;
    }
  }
  if (straddle > 0) {
    warnings.push_back(fmt::format(
        "workload.buffer_base: {:#x} lets {} structures of {} straddle pages of {}, which "
        "device.rdma.pretranslation does not translate then; expected a multiple of that page",
        workload.buffer_base, straddle, device, size_text(page)));
  }
}

/// They ask no root port for AtomicOps. [HP-5]
void warn_of_atomics(const Config& config, const std::string& device, Warnings& warnings) {
  const auto& weights = config.workload.rdma;
  if (!config.host.atomics && weights.fetch_add + weights.cas > 0) {
    warnings.push_back(fmt::format(
        "host.atomics: false, but the adapter of {} does the atomics of workload.rdma by a read "
        "and a write of host memory each, which root ports take all the same; expected "
        "workload.rdma.fetch_add and workload.rdma.cas of 0 for a run without atomics",
        device));
  }
}

/// Sessions that find no ports are not there. [SG-C1]
void warn_of_few_ports(const Config& config, Warnings& warnings) {
  const SrdmaConfig& srdma = config.device.srdma;
  const unsigned most = srdma.control.is_on ? srdma.max_sessions : srdma.sessions;
  const std::uint64_t pairs = pairs_of_ports(srdma);
  if (srdma.is_on && pairs < most) {
    warnings.push_back(fmt::format(
        "device.srdma.last_port: ports {} to {} are {} pairs, for up to {} sessions between two "
        "hosts, so that no more than these come up; expected more ports, or fewer sessions",
        srdma.first_port, srdma.last_port, pairs, most));
  }
}

/// Rates that nothing lets fall, and weights that are not there.
void warn_of_idle_control(const Config& config, Warnings& warnings) {
  const SrdmaConfig& srdma = config.device.srdma;
  const bool goes_by_marks = srdma.congestion.kind == RateControl::kDcqcnQp ||
                             srdma.congestion.kind == RateControl::kDcqcnSession;
  const bool has_switches = config.network.topology != NetworkTopology::kCable;
  if (goes_by_marks && has_switches && !config.network.ecn.is_on) {
    warnings.push_back(fmt::format(
        "network.ecn.enabled: false, but rates by device.srdma.congestion.kind {} fall for marked "
        "packets alone, so that senders go at the rate of their port; expected true, or a kind "
        "that goes by something else [CC-2]",
        spelling(srdma.congestion.kind)));
  }
  const bool goes_by_weights = srdma.policy == ChoicePolicy::kLowestWeight ||
                               srdma.policy == ChoicePolicy::kWeightedHash ||
                               srdma.policy == ChoicePolicy::kHashTable;
  if (srdma.is_on && goes_by_weights && srdma.algorithm == WeightAlgorithm::kStatic &&
      srdma.weights.empty()) {
    warnings.push_back(
        fmt::format("device.srdma.weights: none by algorithm static, so that all sessions weigh 0 "
                    "and policy {} chooses among equals; expected a weight for each session",
                    spelling(srdma.policy)));
  }
}

}  // namespace

void warn_of_rdma(const Config& whole, Warnings& warnings) {
  if (whole.network.mode == NetworkMode::kPacket) {
    warn_of_few_ports(whole, warnings);
    warn_of_idle_control(whole, warnings);
    return;
  }
  const Graph graph(whole.system);
  bool has_adapters = false;
  for (const NodeIndex device : graph.devices()) {
    const Config config = config_of_node(whole, graph, device);
    if (config.workload.via == WorkloadVia::kRdma) {
      if (!std::exchange(has_adapters, true)) {
        warn_of_few_ports(config, warnings);
        if (config.device.srdma.is_on) {
          warn_of_idle_control(config, warnings);
        }
      }
      warn_of_short_retry(config, graph[device].name, warnings);
      warn_of_straddling(config, graph[device].name, warnings);
      warn_of_atomics(config, graph[device].name, warnings);
    }
  }
}

}  // namespace flitwise::config
