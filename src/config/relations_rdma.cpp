// SPDX-License-Identifier: Apache-2.0
// What has to fit together where devices have RDMA adapters.
#include <fmt/format.h>

#include <map>

#include "common/printable.h"
#include "common/problems.h"
#include "common/quantity.h"
#include "common/ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "config/names.h"
#include "config/relations.h"
#include "config/sections/sections.h"
#include "rdma/rdma_area.h"

namespace flitwise::config {
namespace {

constexpr const char* kRdmaPeer = "device.rdma.peer";

RdmaGeometry geometry_of(const Config& config) {
  const WorkloadConfig& workload = config.workload;
  const RdmaConfig& rdma = config.device.rdma;
  return {workload.buffer_size, rdma.queue, rdma.cq, rdma.cqe,
          workload.sizes.empty() ? workload.payload : workload.size_cap};
}

}  // namespace

void check_rdma(const Config& config, BrokenRelations& broken) {
  const WorkloadConfig& workload = config.workload;
  if (workload.via != WorkloadVia::kRdma) {
    return;
  }
  const char* const size = workload.sizes.empty() ? "workload.payload" : "workload.size_cap";
  broken.add_if(workload.kind != WorkloadKind::kPostedWrite, {"workload.via", "workload.kind"},
                "kind {} by rdma; expected posted_write, and weights of workload.rdma for kinds of "
                "work requests",
                spelling(workload.kind));
  broken.add_if(
      workload.rdma.sum() == 0, {"workload.rdma.write"},
      "no kind of work request with a weight; expected one of workload.rdma of 1 or more");
  broken.add_if(config.link.carrier != Carrier::kPcie, {"workload.via", "link.carrier"},
                "RDMA on the {} carrier; expected link.carrier pcie",
                spelling(config.link.carrier));
  broken.add_if(!workload.real_payload, {"workload.via", "workload.real_payload"},
                "work requests, which are bytes in host memory; expected workload.real_payload "
                "true");
  broken.add_if(config.host.iommu_driver.enabled, {"workload.via", "host.iommu_driver.enabled"},
                "a driver that moves pages under rings; expected host.iommu_driver.enabled false");
  broken.add_if(workload.domain_choice == DomainChoice::kChurn,
                {"workload.via", "workload.domain_choice"},
                "contexts that end, and queue pairs that do not; expected another "
                "workload.domain_choice");
  const RdmaConfig& rdma = config.device.rdma;
  broken.add_if(workload.rdma.send > 0 && workload.domains > rdma.cq,
                {"workload.rdma.send", "workload.domains", "device.rdma.cq"},
                "{} queue pairs that take messages, and a completion queue of {}; expected "
                "device.rdma.cq of an entry or more for each",
                workload.domains, rdma.cq);
  const Bytes mtu_room = std::min(rdma.dma_memory, rdma.payload_ram) / 2;
  broken.add_if(rdma.mtu > mtu_room,
                {"device.rdma.mtu", "device.rdma.dma_memory", "device.rdma.payload_ram"},
                "an MTU of {}; expected memories of two packets or more", size_text(rdma.mtu));
  const RdmaArea area(geometry_of(config), 0, 0U);
  broken.add_if(
      area.places() == 0, {"workload.buffer_size", size, "device.rdma.queue", "device.rdma.cq"},
      "a buffer of {} for rings of {} entries, two completion queues of {} and messages of {}; "
      "expected room for three messages behind them, 1MiB or more",
      size_text(workload.buffer_size), rdma.queue, rdma.cq,
      size_text(geometry_of(config).most_bytes));
}

namespace {

/// Keys that have one value at both ends of a cable, in canonical spelling.
constexpr const char* kShared[] = {
    "device.rdma.mtu",      "device.rdma.queue", "device.rdma.cq",
    "device.rdma.cqe",      "workload.domains",  "workload.payload",
    "workload.buffer_size", "workload.sizes",    "workload.size_cap"};

}  // namespace

// Each adapter has one port: cables join adapters in pairs.
void add_broken_cables(const Graph& graph, const std::vector<Config>& configs,
                       std::vector<BrokenRelationOf>& all) {
  std::vector<std::string> names;
  std::map<std::string, std::string> other_end;
  for (const NodeIndex node : graph.devices()) {
    names.push_back(graph[node].name);
  }
  const auto add = [&](std::size_t device, std::vector<std::string> paths, std::string text) {
    all.push_back({graph.devices()[device], {std::move(paths), std::move(text)}});
  };
  for (std::size_t own = 0; own < names.size(); ++own) {
    const std::string& peer = configs[own].device.rdma.peer;
    if (peer.empty()) {
      continue;
    }
    const auto place = std::find(names.begin(), names.end(), peer);
    if (place == names.end()) {
      add(own, {kRdmaPeer},
          fmt::format("no device '{}' in this topology; expected {}, or none{}", shortened(peer),
                      alternatives(names), nearest_hint(peer, names, "name")));
      continue;
    }
    if (configs[own].workload.via != WorkloadVia::kRdma) {
      continue;
    }
    const Config& there = configs[static_cast<std::size_t>(place - names.begin())];
    if (peer == names[own] || there.workload.via != WorkloadVia::kRdma) {
      add(own, {kRdmaPeer},
          peer == names[own]
              ? "a cable from a device to itself; expected another device, or none"
              : fmt::format("'{}' has no RDMA adapter, as its workload.via is not rdma", peer));
      continue;
    }
    for (const auto& [one, other] : {std::pair(names[own], peer), std::pair(peer, names[own])}) {
      const auto [at, is_new] = other_end.emplace(one, other);
      if (!is_new && at->second != other) {
        add(own, {kRdmaPeer},
            fmt::format("'{}' has a cable to {} already; expected devices in pairs", one,
                        at->second));
      }
    }
    for (const char* const path : kShared) {
      const Key& key = *find_row(path);
      const std::string here = as_text(key.write(configs[own]));
      if (const std::string far = as_text(key.write(there)); far != here) {
        add(own, {path, kRdmaPeer},
            fmt::format("{} is {}, and {} at {}; expected one value at both ends of a cable", path,
                        here, far, peer));
      }
    }
  }
  for (std::size_t own = 0; own < names.size(); ++own) {
    if (configs[own].workload.via == WorkloadVia::kRdma && other_end.count(names[own]) == 0 &&
        configs[own].device.rdma.peer.empty()) {
      add(own, {kRdmaPeer, "workload.via"},
          "an adapter without a cable, as it names no peer and no device names it; expected the "
          "name of the device at the other end "
          "of a cable, such as system.instances: {ep0: {device.rdma.peer: ep1}}");
    }
  }
}

}  // namespace flitwise::config
