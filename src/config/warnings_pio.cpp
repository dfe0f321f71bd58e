// SPDX-License-Identifier: Apache-2.0
// Devices that send by PIO in a way that their author hardly meant.
#include <fmt/format.h>

#include <algorithm>

#include "common/quantity.h"
#include "common/ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "config/relations.h"
#include "pio/launch.h"
#include "pio/send_window.h"

namespace flitwise::config {
namespace {

using Warnings = std::vector<std::string>;

std::string time_text(Time time) {
  return write_quantity(time.fs, time_dimension());
}

// [PIO-12.28]
void warn_of_starved_vls(const Config& config, Warnings& warnings) {
  const CoresConfig& cores = config.host.cores;
  const auto& egress = config.device.pio.egress;
  const bool has_tables = !egress.high.empty() || !egress.low.empty();
  const unsigned used = cores.vl_choice == VlChoice::kContext
                            ? std::min(cores.vls, config.workload.domains)
                            : cores.vls;
  std::vector<unsigned> starved;
  for (unsigned vl = 0; has_tables && vl < std::min(used, kDataVls); ++vl) {
    const auto has_weight = [vl](const auto& entry) {
      return entry.first == vl && entry.second > 0;
    };
    if (!any_of(egress.high, has_weight) && !any_of(egress.low, has_weight)) {
      starved.push_back(vl);
    }
  }
  if (!starved.empty()) {
    warnings.push_back(fmt::format(
        "device.pio.egress.{}: no weight for VL {} of host.cores.vls {}: their packets never "
        "leave, and threads wait for their credits for ever; expected a weight of 1 or more for "
        "each VL, here or in device.pio.egress.{}",
        egress.low.empty() ? "high" : "low", fmt::join(starved, ", "), cores.vls,
        egress.low.empty() ? "low" : "high"));
  }
}

/// A thread has the contexts that are left over by the others.
void warn_of_idle_threads(const Config& config, Warnings& warnings) {
  const CoresConfig& cores = config.host.cores;
  const unsigned threads = cores.count * cores.threads, contexts = config.workload.domains;
  if (threads > contexts) {
    warnings.push_back(fmt::format(
        "host.cores.count: {} of {} threads have no send context, and send nothing; expected "
        "host.cores.count times host.cores.threads up to workload.domains, {}",
        threads - contexts, threads, contexts));
  }
}

void warn_of_many_deep_contexts(const Config& config, Warnings& warnings) {
  const unsigned deep = config.device.pio.deep_contexts, contexts = config.workload.domains;
  if (deep > contexts) {
    warnings.push_back(
        fmt::format("device.pio.deep_contexts: {} of the {} contexts of workload.domains: all have "
                    "device.pio.deep_depth, and none device.pio.depth; expected up to {}",
                    deep, contexts, contexts));
  }
}

/// Blocks of the largest packet by PIO, its PBC included; 0: all go by SDMA.
unsigned most_blocks(const Config& config) {
  const WorkloadConfig& workload = config.workload;
  const Bytes sdma_from = config.host.cores.sdma_from;
  Bytes most = workload.sizes.empty() ? workload.payload : workload.size_cap;
  if (sdma_from > 0 && most >= sdma_from) {
    most = workload.sizes.empty() ? 0 : sdma_from - 1;
  }
  return most == 0
             ? 0
             : static_cast<unsigned>((most + kQwBytes + kSendBlockBytes - 1) / kSendBlockBytes);
}

/// Blocks that are free and not returned may be so many that a packet never has room. [PIO-7.9]
void warn_of_high_threshold(const Config& config, Warnings& warnings) {
  const PioConfig& pio = config.device.pio;
  const unsigned blocks = most_blocks(config);
  const unsigned depth = pio.deep_contexts == 0 ? pio.depth
                         : pio.deep_contexts >= config.workload.domains
                             ? pio.deep_depth
                             : std::min(pio.depth, pio.deep_depth);
  if (blocks == 0 || blocks + pio.threshold <= depth + 1) {
    return;
  }
  const std::string what =
      pio.threshold > depth
          ? fmt::format("beyond the {} blocks of a context: none ever has so many to return", depth)
          : fmt::format(
                "with contexts of {0} blocks keeps back up to {1}, and a packet of {2} "
                "has no room then",
                depth, pio.threshold - 1, blocks);
  warnings.push_back(fmt::format(
      "device.pio.threshold: {} {}, so that threads write ForceReturn again and again{}; expected "
      "up to {}, or a larger {}",
      pio.threshold, what,
      pio.clear == PioClear::kBlock && !pio.early_return
          ? ", with device.pio.clear: block more often than with packet, since a return in the "
            "middle of a packet leaves its rest behind"
          : "",
      depth + 1 - blocks, depth == pio.depth ? "device.pio.depth" : "device.pio.deep_depth"));
}

/// A step of a thread ends with a clock of its core.
void warn_of_rounded_times(const Config& config, Warnings& warnings) {
  const CoresConfig& cores = config.host.cores;
  const auto& timing = cores.timing;
  const bool fences =
      cores.fence != StoreFence::kNone || cores.hostile > 0 || config.faults.pio_integrity > 0;
  struct Row {
    const char* name;
    Time time;
    bool is_read = true;
  };
  const Row rows[] = {{"store", timing.store},
                      {"source", timing.source},
                      {"drain", timing.drain},
                      {"fence", timing.fence, fences},
                      {"credit_poll", timing.credit_poll},
                      {"descriptor", timing.descriptor, cores.sdma_from > 0}};
  std::vector<std::string> rounded;
  for (const Row& row : rows) {
    if (row.is_read && row.time.fs % timing.clock.fs != 0) {
      rounded.push_back(fmt::format("host.cores.timing.{} {}", row.name, time_text(row.time)));
    }
  }
  if (!rounded.empty()) {
    const std::string clock = time_text(timing.clock);
    warnings.push_back(
        fmt::format("host.cores.timing.clock: {}, and {} {} of it: each step of a core ends with a "
                    "clock, up to {} later; expected multiples of host.cores.timing.clock",
                    clock, fmt::join(rounded, ", "),
                    rounded.size() == 1 ? "is no multiple" : "are no multiples", clock));
  }
}

}  // namespace

void warn_of_pio(const Config& whole, Warnings& warnings) {
  struct Found {
    std::string text;
    std::vector<std::string> devices;
  };
  std::vector<Found> found;
  const Graph graph(whole.system);
  for (const NodeIndex device : graph.devices()) {
    // The cores at a root port count with the device below.
    const Config config =
        for_instance(config_of_node(whole, graph, device), graph[graph.root_of(device)].name);
    if (config.workload.via != WorkloadVia::kPio) {
      continue;
    }
    Warnings own;
    warn_of_starved_vls(config, own);
    warn_of_idle_threads(config, own);
    warn_of_many_deep_contexts(config, own);
    warn_of_high_threshold(config, own);
    warn_of_rounded_times(config, own);
    for (const std::string& text : own) {
      Found* same = find_where(found, [&](const Found& one) { return one.text == text; });
      (same != nullptr ? *same : found.emplace_back(Found{text, {}}))
          .devices.push_back(graph[device].name);
    }
  }
  for (const auto& [text, devices] : found) {
    const bool are_all = devices.size() == graph.devices().size();
    warnings.push_back(are_all ? text : fmt::format("{} ({})", text, fmt::join(devices, ", ")));
  }
}

}  // namespace flitwise::config
