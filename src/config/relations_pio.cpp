// SPDX-License-Identifier: Apache-2.0
// What has to fit together where packets are sent by PIO.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/printable.h"
#include "common/problems.h"
#include "common/quantity.h"
#include "common/ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "config/names.h"
#include "config/relations.h"
#include "pio/receive_queue.h"
#include "pio/sdma_area.h"
#include "pio/send_window.h"

namespace flitwise::config {

namespace {

// What goes by SDMA: `most` bytes behind a PBC.
void check_sdma(const Config& config, Bytes most, BrokenRelations& broken) {
  const WorkloadConfig& workload = config.workload;
  const auto& sdma = config.device.pio.sdma;
  const char* const size = workload.sizes.empty() ? "workload.payload" : "workload.size_cap";
  const Bytes room = std::min(sdma.buffer, kMostPacketBlocks) * Bytes{kSendBlockBytes} - kQwBytes;
  broken.add_if(
      most > room, {size, "device.pio.sdma.buffer"},
      "packets by SDMA up to {}, and room for {} beside the PBC of 8B in the buffer of an "
      "engine; expected packets that fit into it, and into 162 blocks of 64B",
      size_text(most), size_text(room));
  broken.add_if(!workload.real_payload, {"host.cores.sdma_from", "workload.real_payload"},
                "packets by SDMA from {} on, whose descriptors are bytes in host memory; expected "
                "workload.real_payload true",
                size_text(config.host.cores.sdma_from));
  const SdmaArea area{0, workload.buffer_size / 2, sdma.ring, most + kQwBytes + 3};
  broken.add_if(
      area.places() == 0, {size, "device.pio.sdma.ring", "workload.buffer_size"},
      "half a buffer of {} for credits, a ring of {} descriptors and packets by SDMA of {}; "
      "expected room for a packet, 64KiB or more",
      size_text(workload.buffer_size), sdma.ring, size_text(most));
}

}  // namespace

void check_pio(const Config& config, BrokenRelations& broken) {
  const WorkloadConfig& workload = config.workload;
  if (workload.via != WorkloadVia::kPio) {
    return;
  }
  const PioConfig& pio = config.device.pio;
  broken.add_if(workload.kind != WorkloadKind::kPostedWrite, {"workload.via", "workload.kind"},
                "kind {} by pio; expected posted_write", spelling(workload.kind));
  broken.add_if(config.link.carrier != Carrier::kPcie, {"workload.via", "link.carrier"},
                "PIO on the {} carrier; expected link.carrier pcie", spelling(config.link.carrier));
  broken.add_if(config.device.functions.bar_size < 2 * Bytes{kPioWindowBytes},
                {"workload.via", "device.functions.bar_size"},
                "a BAR 0 of {}, and the PIO window lies from 32MiB to 64MiB of it; expected "
                "device.functions.bar_size 64MiB or more",
                size_text(config.device.functions.bar_size));
  broken.add_if(config.host.iommu_driver.enabled, {"workload.via", "host.iommu_driver.enabled"},
                "a driver that moves pages under returned credits; expected "
                "host.iommu_driver.enabled false");
  broken.add_if(workload.domain_choice == DomainChoice::kChurn,
                {"workload.via", "workload.domain_choice"},
                "contexts that end, and send contexts that do not; expected another "
                "workload.domain_choice");
  broken.add_if(workload.domains > kSendContexts, {"workload.via", "workload.domains"},
                "{} domains, and {} send contexts; expected workload.domains up to {}",
                workload.domains, kSendContexts, kSendContexts);
  const unsigned hostile = config.host.cores.hostile;
  broken.add_if(hostile > workload.domains, {"host.cores.hostile", "workload.domains"},
                "{} hostile processes of {} domains; expected host.cores.hostile up to "
                "workload.domains",
                hostile, workload.domains);
  const Bytes deep = std::min(pio.deep_contexts, workload.domains);
  const Bytes blocks = deep * pio.deep_depth + (workload.domains - deep) * pio.depth;
  broken.add_if(
      blocks > kSendMemoryBlocks,
      {"workload.domains", "device.pio.depth", "device.pio.deep_contexts", "device.pio.deep_depth"},
      "send contexts of {} blocks together; expected up to {}, 1 MiB of send memory", blocks,
      kSendMemoryBlocks);
  const Bytes most = workload.sizes.empty() ? workload.payload : workload.size_cap;
  const Bytes sdma_from = config.host.cores.sdma_from;
  const Bytes most_by_pio = sdma_from > 0 ? std::min(most, sdma_from - 1) : most;
  const Bytes smallest = deep == workload.domains ? pio.deep_depth
                         : deep > 0               ? std::min(pio.depth, pio.deep_depth)
                                                  : pio.depth;
  const Bytes room = std::min<Bytes>(smallest, kMostPacketBlocks) * kSendBlockBytes - kQwBytes;
  broken.add_if(
      most_by_pio > room,
      {workload.sizes.empty() ? "workload.payload" : "workload.size_cap", "device.pio.depth",
       "device.pio.deep_depth", "host.cores.sdma_from"},
      "packets by PIO up to {}, and room for {} beside the PBC of 8B in the smallest context; "
      "expected packets that fit into it, and into 162 blocks of 64B",
      size_text(most_by_pio), size_text(room));
  if (sdma_from > 0 && most >= sdma_from) {
    check_sdma(config, most, broken);
  }
  broken.add_if(pio.egress.stalled_vl > 7 && pio.egress.stalled_vl != 15,
                {"device.pio.egress.stalled_vl"}, "VL {}; expected 0 to 7, or 15",
                pio.egress.stalled_vl);
}

namespace {

constexpr const char* kPeer = "device.pio.egress.peer";

/// Devices by name, with their own configurations.
struct Devices {
  std::vector<std::string> names, that_receive;
  std::vector<Config> configs;

  Devices(const Config& whole, const Graph& graph) {
    for (const NodeIndex node : graph.devices()) {
      names.push_back(graph[node].name);
      configs.push_back(config_of_node(whole, graph, node));
      if (configs.back().workload.via == WorkloadVia::kPio) {
        that_receive.push_back(names.back());
      }
    }
  }
};

/// What is wrong with a peer; empty: nothing. `users`: of each receive engine so far.
std::string flaw_of_peer(const Devices& all, std::size_t own,
                         std::map<std::string, std::string>& users) {
  const std::string& peer = all.configs[own].device.pio.egress.peer;
  if (!contains(all.names, peer)) {
    constexpr std::size_t kShown = 9;
    std::vector<std::string> shown(
        all.names.begin(),
        all.names.begin() + static_cast<std::ptrdiff_t>(std::min(all.names.size(), kShown)));
    shown.emplace_back(all.names.size() > kShown ? "so on, or none" : "none");
    return fmt::format("no device '{}' in this topology; expected {}{}", shortened(peer),
                       alternatives(shown), nearest_hint(peer, all.names, "name"));
  }
  if (all.configs[own].workload.via != WorkloadVia::kPio) {
    return "";
  }
  if (!contains(all.that_receive, peer)) {
    return fmt::format("'{}' has no receive engine, as its workload.via is not pio; expected {}",
                       peer, alternatives(all.that_receive));
  }
  const auto [first, is_first] = users.emplace(peer, all.names[own]);
  return is_first ? ""
                  : fmt::format(
                        "'{}' is the peer of {} already, and has one wire; expected another "
                        "device, or none",
                        peer, first->second);
}

}  // namespace

std::vector<BrokenRelationOf> broken_wires(const Config& whole, const Graph& graph) {
  std::vector<BrokenRelationOf> all;
  const Devices devices(whole, graph);
  const std::vector<Bytes> bases = buffer_bases(whole, graph);
  std::map<std::string, std::string> users;
  for (std::size_t i = 0; i < devices.names.size(); ++i) {
    const NodeIndex node = graph.devices()[i];
    const Config& own = devices.configs[i];
    if (!own.device.pio.egress.peer.empty()) {
      if (std::string flaw = flaw_of_peer(devices, i, users); !flaw.empty()) {
        all.push_back({node, {{kPeer}, std::move(flaw)}});
      }
    }
    // The cores at a root port above a switch are those of all devices below.
    BrokenRelations with_cores;
    check_pio(for_instance(own, graph[graph.root_of(node)].name), with_cores);
    for (BrokenRelation& broken : with_cores) {
      all.push_back({node, std::move(broken)});
    }
    const Bytes buffers = own.workload.domains * own.workload.buffer_size;
    if (bases[i] != own.workload.buffer_base && bases[i] + buffers > own.host.memory.size) {
      all.push_back({node,
                     {{"workload.buffer_base", "workload.buffer_size", "workload.domains",
                       "workload.via", "host.memory.size", "system.devices"},
                      fmt::format("buffers of {} of {} from {} on, behind those of other devices, "
                                  "end beyond the memory of {}; expected a larger "
                                  "host.memory.size, or smaller or fewer buffers",
                                  size_text(buffers), devices.names[i], size_text(bases[i]),
                                  size_text(own.host.memory.size))}});
    }
  }
  add_broken_cables(graph, devices.configs, all);
  for (const auto& [peer, sender] : users) {
    const auto at = static_cast<std::size_t>(
        std::find(devices.names.begin(), devices.names.end(), peer) - devices.names.begin());
    const Bytes buffer = devices.configs[at].workload.buffer_size;
    if (buffer < ReceiveQueue::kLeastBuffer) {
      all.push_back(
          {graph.devices()[at],
           {{"workload.buffer_size", kPeer},
            fmt::format("a buffer of {} for each domain of {}, which receives from {} as "
                        "well; expected workload.buffer_size {} or more",
                        size_text(buffer), peer, sender, size_text(ReceiveQueue::kLeastBuffer))}});
    }
  }
  return all;
}

}  // namespace flitwise::config
