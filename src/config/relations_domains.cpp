// SPDX-License-Identifier: Apache-2.0
// Domains of the workload: functions and PASIDs for them, and Domain IDs for their tables.
#include "config/relations.h"

#include "config/instances.h"
#include "config/names.h"
#include "endpoint/domain_numbers.h"
#include "flitwise/ids.h"
#include "workload/workload.h"

namespace flitwise::config {

void check_domains(const Config& config, BrokenRelations& broken) {
  const Identity identity = config.link.identity;
  const auto& functions = config.device.functions;
  // Software uses no wider PASIDs than the translation agent has. [CFG-10]
  const unsigned bits = config.iommu.translation != Translation::kOff
                            ? config.iommu.capabilities.pasid_bits
                            : kPasidBits;
  const std::vector<unsigned> carriers = workload_functions(config.device);
  const unsigned last = carriers.empty() ? functions.count : carriers.back();
  if (broken.add_if(
          last >= functions.count, {"workload.functions", "device.functions.count"},
          "function {} of a device that has {}; expected device.functions.count of at least {}",
          last, functions.count, last + 1)) {
    return;
  }
  const DomainNumbers numbers(config.device,
                              identity != Identity::kBdf && functions.has_pasid && bits > 0);
  const std::uint64_t limit = numbers.limit(bits);
  const std::uint32_t live = config.workload.domains, domains = domain_ids(config.workload);
  const std::uint64_t room = limit * live / domains;
  const bool are_contexts = functions.context_kind != ContextKind::kProcess;
  broken.add_if(are_contexts && config.host.iommu_driver.enabled,
                {"workload.contexts.kind", "host.iommu_driver.enabled"},
                "contexts of processes, and a driver that maps and ends each domain as a process; "
                "expected workload.contexts.kind process, or no driver");
  broken.add_if(
      numbers.per_process() > 1 && functions.pasid_space == PasidSpace::kSystem &&
          numbers.functions() > 1,
      {"workload.contexts.per_process", "device.functions.pasid_space", "device.functions.count"},
      "{} contexts of a process in one of {} functions, and PASIDs that the host gives; "
      "expected device.functions.pasid_space function, or one function",
      numbers.per_process(), numbers.functions());
  broken.add_if(config.workload.via == WorkloadVia::kRdma && are_contexts &&
                    functions.context_kind != ContextKind::kQueuePair,
                {"workload.via", "workload.contexts.kind"},
                "domains of an RDMA adapter, which are its queue pairs, of kind {}; expected "
                "queue_pair or process",
                spelling(functions.context_kind));
  broken.add_if(
      identity != Identity::kNone && domains > limit,
      {"link.identity", "device.functions.count", "device.functions.has_pasid",
       "workload.functions", "workload.domains", "workload.domain_choice"},
      "{} domains{} with {} function(s){} and identity {}; expected {}, or more functions{}",
      domains,
      domains > live ? fmt::format(" ({} for each of {} live ones)", domains / live, live) : "",
      numbers.functions(), functions.has_pasid ? "" : " without PASID", spelling(identity),
      room > 0 ? fmt::format("workload.domains up to {}", room) : "another workload.domain_choice",
      bits < kPasidBits ? ", or more iommu.capabilities.pasid_bits" : "");
}

// Flushes go in the name of the PF, which has tables for them though no domain is its own.
std::optional<BrokenRelationOf> too_many_domains(const Config& whole, const Graph& graph) {
  std::vector<std::uint64_t> used(graph.hosts());
  for (const NodeIndex node : graph.devices()) {
    const Config device = config_of_node(whole, graph, node);
    if (device.iommu.translation == Translation::kOff) {
      continue;
    }
    const bool is_pf_apart = workload_functions(device.device).front() != 0;
    const std::uint64_t before = used[graph[node].host] + (is_pf_apart ? 1 : 0);
    const std::uint64_t domains = domain_ids(device.workload);
    used[graph[node].host] = before + domains;
    if (before + domains > kMostDomainIds) {
      const std::uint64_t room = before < kMostDomainIds ? kMostDomainIds - before : 0;
      BrokenRelations broken;
      broken.add_if(true, {"workload.domains", "iommu.translation"},
                    "translation for {} domains of {}{}, each with tables and a Domain ID of its "
                    "own, of which a host has {}; expected workload.domains up to {}, or "
                    "iommu.translation off",
                    domains, graph[node].name,
                    before > 0 ? fmt::format(" beside {} others", before) : "", kMostDomainIds,
                    room * device.workload.domains / domains);
      return BrokenRelationOf{node, broken.front()};
    }
  }
  return std::nullopt;
}

}  // namespace flitwise::config
