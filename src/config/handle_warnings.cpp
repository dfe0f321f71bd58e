// SPDX-License-Identifier: Apache-2.0
// Handles that are too few for what is asked of them.
#include "config/handle_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/handle_ranges.h"
#include "config/instances.h"

namespace flitwise {
namespace {

/// Domains that take turns within a short time.
std::uint64_t domains_in_use(const WorkloadConfig& workload) {
  return workload.domain_choice == DomainChoice::kWorkingSet
             ? std::min<std::uint64_t>(workload.working_set, workload.domains)
             : workload.domains;
}

/// A miss waits for a handle: it is neither software's to give one nor part of creating a context.
bool stalls_on_miss(const Config& config) {
  const auto& dhi = config.device.dhi;
  const bool has_handles = config.link.identity == Identity::kDhi && dhi.supported && dhi.enabled;
  const bool has_domains = config.workload.kind != WorkloadKind::kHostile &&
                           config.workload.kind != WorkloadKind::kTrace &&
                           config.workload.via == WorkloadVia::kDma;
  return has_handles && has_domains && dhi.on_miss == OnMiss::kStall &&
         dhi.management == HandleManagement::kDevice && dhi.allocate_at == AllocateAt::kFirstUse;
}

unsigned bits_for(std::uint64_t domains) {
  unsigned bits = kMinHandleBits;
  while (bits < kMaxHandleBits && HandleRange::of_bits(bits).size() < domains) {
    ++bits;
  }
  return bits;
}

std::string advice(std::uint64_t domains, unsigned handles) {
  const bool fits = domains <= HandleRange::of_bits(kMaxHandleBits).size();
  return fmt::format("expected {}device.dhi.on_miss: bypass, or workload.domains up to {}",
                     fits ? fmt::format("device.dhi.bits of at least {}, ", bits_for(domains)) : "",
                     handles);
}

}  // namespace

void warn_of_stalls(const Config& whole, std::vector<std::string>& warnings) {
  const Graph graph(whole.system);
  std::vector<Config> devices;
  std::vector<unsigned> bits;
  for (const NodeIndex device : graph.devices()) {
    devices.push_back(config_of_node(whole, graph, device));
    bits.push_back(devices.back().device.dhi.bits);
  }
  const std::vector<HandleRange> ranges = handle_ranges(whole, graph, bits);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const unsigned handles = ranges[i].size();
    const std::uint64_t domains = domains_in_use(devices[i].workload);
    if (handles == 0 || domains <= handles || !stalls_on_miss(devices[i])) {
      continue;  // without a handle messages go in full
    }
    warnings.push_back(fmt::format(
        "device.dhi.on_miss: stall with {} domains in turn and {} handles in {}: a message of a "
        "domain without a handle waits, and all behind it, until an old handle has nothing "
        "outstanding, which takes a flush of the posted uses, a round trip over the link; most of "
        "the link's time may go to that; {}",
        domains, handles, graph[graph.devices()[i]].name, advice(domains, handles)));
  }
}

}  // namespace flitwise
