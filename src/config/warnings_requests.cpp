// SPDX-License-Identifier: Apache-2.0
// Configurations in which most or all requests of a device, or of host software to it, fail.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/quantity.h"
#include "config/instances.h"
#include "config/relations.h"
#include "endpoint/domain_numbers.h"
#include "workload/workload.h"

namespace flitwise::config {
namespace {

using Warnings = std::vector<std::string>;

/// The last PASID of the domains of a device that uses handles, where the host grants these by
/// PASID; none elsewhere. [DHI S3]
std::optional<std::uint32_t> last_pasid_for_grant(const Config& device, const Config& port) {
  const auto& dhi = device.device.dhi;
  if (!device.uses_handles() || !dhi.supported || !dhi.enabled ||
      !device.device.functions.has_pasid || port.host.dhi.grant != GrantPolicy::kConfigured) {
    return std::nullopt;
  }
  return (domain_ids(device.workload) - 1) / DomainNumbers(device.device).per_pasid();
}

/// Its handles stand for contexts. [DHI D22]
bool names_contexts(const Config& device) {
  return device.device.functions.context_kind != ContextKind::kProcess &&
         device.device.dhi.contexts == HandleContexts::kOwn;
}

/// What meets the requests of a device so that they fail, most or all of them. `port`: the
/// configuration of the root port above it.
void warn_of_requests(const Config& device, const Config& port, const std::string& name,
                      Warnings& warnings) {
  const WorkloadConfig& workload = device.workload;
  const HostConfig& host = port.host;
  const bool is_pio = workload.via == WorkloadVia::kPio;  // its device returns credits to memory
  const bool has_buffers = has_requests(workload.via) && workload.kind != WorkloadKind::kTrace &&
                           workload.kind != WorkloadKind::kHostile;
  const bool is_cxl = workload.via == WorkloadVia::kCxlCache &&
                      workload.kind != WorkloadKind::kTrace;  // by addresses of the host
  const bool reads = has_buffers && !is_pio && workload.kind != WorkloadKind::kPostedWrite;
  const bool is_plain = port.iommu.translation == Translation::kOff;  // addresses are the host's
  const Bytes first = workload.buffer_base, all = workload.buffer_size * workload.domains;
  const auto covered = [&](const auto& window) {
    const Bytes from = std::max(window.base, first);
    const Bytes to = std::min(window.base + window.size, first + all);
    return from < to ? to - from : 0;
  };
  const bool has_handles =
      is_cxl ? device.has_cxl_handles() : device.link.identity == Identity::kDhi;
  const bool is_trusted = has_handles && device.device.dhi.trusted;
  const Bytes least = workload.sizes.empty() ? workload.payload : 1;
  const Bytes inside = host.dma_window.size == 0 ? all : covered(host.dma_window);
  const Time latency = device.host.memory.timing.latency;
  const Time timeout = device.device.timing.completion_timeout;
  const std::optional<std::uint32_t> last_pasid = last_pasid_for_grant(device, port);
  const auto& granted = host.dhi.granted;
  const std::uint32_t last = last_pasid.value_or(0);
  // A core whose credits do not come back waits for ever; other requests fail, one by one.
  const bool is_any_refused = granted.first_pasid > 0 || granted.last_pasid < last;
  const bool is_refused = is_pio ? is_any_refused : granted.first_pasid > last;
  const std::string buffers = fmt::format("the buffers of {}, {} from {} on", name,
                                          config::size_text(all), config::size_text(first));

  struct Row {
    bool is_so;
    std::string text;
  };
  const Row rows[] = {
      // What waits before memory comes on top of its latency. [LNK-9.18]
      {workload.kind != WorkloadKind::kPostedWrite && latency * 2 >= timeout,
       fmt::format("device.timing.completion_timeout: {:.1f} ns of {} for reads of a memory with a "
                   "latency of {:.1f} ns: a read that waits may time out, and its completion then "
                   "comes for nobody; expected more than twice host.memory.timing.latency",
                   timeout.ns(), name, latency.ns())},
      {((has_buffers && is_plain) || is_cxl) && inside < least,
       fmt::format("host.dma_window: {} from {} on leave no room for a request in {}: each is "
                   "refused; expected a window that holds them, or host.dma_window.size: unlimited",
                   config::size_text(host.dma_window.size), config::size_text(host.dma_window.base),
                   buffers)},
      {((has_buffers && is_plain) || is_cxl) && !is_trusted && covered(host.trusted_window) == all,
       fmt::format(
           "host.trusted_window: {} from {} on cover {}, which is not trusted: each request "
           "is refused; expected device.dhi.trusted with {}, or a window beside them",
           config::size_text(host.trusted_window.size), config::size_text(host.trusted_window.base),
           buffers, is_cxl ? "link.cxl.identity: dhi_added" : "link.identity: dhi")},
      {has_buffers && !host.pasid && device.device.functions.has_pasid &&
           (device.link.identity == Identity::kBdfPasid || device.link.identity == Identity::kDhi),
       fmt::format("host.pasid: false above {}, whose requests name PASIDs, in ALLOC at the least: "
                   "each TLP with one is malformed; expected device.functions.has_pasid: false, or "
                   "host.pasid: true",
                   name)},
      {(has_buffers || (is_cxl && has_handles)) && last_pasid && is_refused,
       fmt::format("host.dhi.granted: PASIDs {} to {}, but the domains of {} have PASIDs 0 to {}: "
                   "their handles are refused, and {}; expected first_pasid 0 and last_pasid of at "
                   "least {}, or host.dhi.grant: any",
                   granted.first_pasid, granted.last_pasid, name, last,
                   is_pio ? "so are the credits that it returns, for which cores wait for ever"
                          : "so is each request",
                   last)},
      {last_pasid && names_contexts(device) && granted.contexts == 0,
       fmt::format("host.dhi.granted.contexts: none, but the domains of {} are contexts: their "
                   "handles are refused, and they go in full; expected {}, device.dhi.contexts: "
                   "shared, or host.dhi.grant: any",
                   name, DomainNumbers(device.device).per_process())},
      {reads && port.faults.drop_completions > 0 &&
           port.faults.drop_completions >= workload.requests,
       fmt::format("faults.drop_completions: {} with {} requests of {}: most reads wait for "
                   "device.timing.completion_timeout, and fail; expected fewer",
                   port.faults.drop_completions, workload.requests, name)},
  };
  for (const Row& row : rows) {
    if (row.is_so) {
      warnings.push_back(row.text);
    }
  }
}

/// The agent gives up waiting for a device before that can have answered; the driver orders again
/// three times, and then goes no further. [IQU-07]
void warn_of_short_invalidations(const Config& config, const std::string& name, Time flights,
                                 Warnings& warnings) {
  const Time timeout = config.iommu.timing.invalidate_timeout;
  const Time needed = flights + config.device.timing.pipeline;
  if (config.host.iommu_driver.enabled && config.device.atc.enabled && needed >= timeout) {
    warnings.push_back(fmt::format(
        "iommu.timing.invalidate_timeout: {:.1f} ns, but the answer of {} to an Invalidate Request "
        "takes {:.1f} ns at the least: each wait for it is given up, and what software has ordered "
        "again three times it waits for until the run ends; expected more, or a shorter way",
        timeout.ns(), name, needed.ns()));
  }
}

/// Host software finds nobody whose configuration requests it gives up before they can be answered;
/// the first one goes behind the credits of its link, which take as long as itself.
void warn_of_short_timeout(const Config& whole, const Graph& graph, NodeIndex device,
                           Warnings& warnings) {
  Time flights{}, first{};
  for (NodeIndex node = device;; node = graph.upper_of(node)) {
    const Config config = config_of_node(whole, graph, node);
    if (graph.is(node, NodeKind::kRootPort)) {
      break;
    }
    const auto& timing = config.link.timing;
    first = (timing.propagation + timing.receive) * 2;
    const bool is_switch = graph.is(node, NodeKind::kSwitch);
    flights += first + (is_switch ? config.system.switch_timing.forward * 2 : Time{});
  }
  const Config config = config_of_node(whole, graph, device);
  warn_of_short_invalidations(config, graph[device].name, flights, warnings);
  const Time needed = std::max(flights, first * 2) + config.host.timing.mmio +
                      config.device.timing.pipeline + config.device.timing.mmio;
  const Time timeout = config.host.timing.completion_timeout;
  if (needed >= timeout) {
    warnings.push_back(fmt::format(
        "host.timing.completion_timeout: {:.1f} ns, but the first configuration requests to {} "
        "take {:.1f} ns at the least, so that host software does not find it; expected more, or a "
        "shorter link.timing.propagation, link.timing.receive, device.timing.pipeline or "
        "system.timing.switch_forward",
        timeout.ns(), graph[device].name, needed.ns()));
  }
}

}  // namespace

void warn_of_failing_requests(const Config& whole, Warnings& warnings) {
  const Graph graph(whole.system);
  for (const NodeIndex device : graph.devices()) {
    NodeIndex port = device;
    while (!graph.is(port, NodeKind::kRootPort)) {
      port = graph.upper_of(port);
    }
    warn_of_requests(config_of_node(whole, graph, device), config_of_node(whole, graph, port),
                     graph[device].name, warnings);
    warn_of_short_timeout(whole, graph, device, warnings);
  }
}

}  // namespace flitwise::config
