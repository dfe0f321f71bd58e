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
#include "pio/pbc.h"
#include "pio/sdma_area.h"
#include "pio/send_window.h"
#include "pio/vl_arbiter.h"

namespace flitwise::config {
namespace {

using Warnings = std::vector<std::string>;

std::string time_text(Time time) {
  return write_quantity(time.fs, time_dimension());
}

/// Virtual lanes that packets take, VL 0 on; 9: VL15 as well.
unsigned used_vls(const Config& config) {
  const CoresConfig& cores = config.host.cores;
  return cores.vl_choice == VlChoice::kContext ? std::min(cores.vls, config.workload.domains)
                                               : cores.vls;
}

/// Every packet has so many blocks or more.
unsigned least_blocks(const Config& config) {
  const WorkloadConfig& workload = config.workload;
  const bool is_any = !workload.sizes.empty() || config.host.cores.hostile > 0;
  const auto payload = static_cast<std::uint32_t>(is_any ? 0 : workload.payload);
  return (Pbc::of_payload(payload).wire_bytes() + kSendBlockBytes - 1) / kSendBlockBytes;
}

/// Do these weights let each lane send a packet in its turn, as no weights do?
bool are_turns(const VlWeights& weights, unsigned lanes, unsigned blocks) {
  const VlWeights used =
      those(weights, [&](const auto& one) { return one.first < lanes && one.second > 0; });
  for (unsigned vl = 0; vl < lanes; ++vl) {
    if (used.size() != lanes || used[vl].first != vl || used[vl].second > blocks) {
      return false;
    }
  }
  return true;
}

// [PIO-6.5]
void warn_of_idle_weights(const Config& config, Warnings& warnings) {
  const auto& egress = config.device.pio.egress;
  const VlWeights& one = egress.low.empty() ? egress.high : egress.low;
  const std::string key = fmt::format("device.pio.egress.{}", egress.low.empty() ? "high" : "low");
  const unsigned lanes = std::min(used_vls(config), kDataVls), blocks = least_blocks(config);
  if (one.empty()) {
    return;
  }
  if (lanes == 1) {
    const bool is_by_context = config.host.cores.vls > 1;
    warnings.push_back(fmt::format(
        "{}: weights, and all packets take VL 0, which shares the port with nobody; expected "
        "{} of 2 or more",
        key, is_by_context ? "workload.domains" : "host.cores.vls"));
  } else if ((egress.low.empty() || egress.high.empty()) && are_turns(one, lanes, blocks)) {
    warnings.push_back(
        fmt::format("{}: weights of no more than a packet, which has {} blocks or more: VLs send a "
                    "packet each in turn, as they do without weights; expected weights of several "
                    "packets, such as [[0, {}], [1, {}]]",
                    key, blocks, std::min(48 * blocks, kMostVlWeight),
                    std::min(16 * blocks, kMostVlWeight / 3)));
  }
}

/// The first packet is stored, crosses the link and both clocks, and is read out of send memory.
Time least_way_to_port(const Config& config) {
  const auto& timing = config.device.pio.timing;
  return config.host.timing.mmio + config.device.timing.pipeline + timing.crossing + timing.egress;
}

void warn_of_idle_stall(const Config& config, Warnings& warnings) {
  const auto& egress = config.device.pio.egress;
  const unsigned lanes = used_vls(config);
  const Time end = egress.stall_from + egress.stall, way = least_way_to_port(config);
  if (egress.stall == Time{}) {
    return;
  }
  if (queue_of_vl(egress.stalled_vl) >= lanes) {
    warnings.push_back(fmt::format(
        "device.pio.egress.stalled_vl: VL {}, which no packet takes: nothing stalls; expected VL "
        "0{}",
        egress.stalled_vl,
        lanes > kDataVls ? " to 7, or 15"
        : lanes > 1      ? fmt::format(" to {}", lanes - 1)
                         : ""));
  } else if (end <= way) {
    warnings.push_back(fmt::format(
        "device.pio.egress.stall: over {} behind the start of the workload, and no packet can be "
        "at the port before {}: nothing stalls; expected a longer one, or a later "
        "device.pio.egress.stall_from",
        time_text(end), time_text(way)));
  }
}

/// Packets have a place each in the memory of their engine, which is full before a long ring is.
void warn_of_long_rings(const Config& config, Warnings& warnings) {
  const WorkloadConfig& workload = config.workload;
  const unsigned ring = config.device.pio.sdma.ring;
  const Bytes most = workload.sizes.empty() ? workload.payload : workload.size_cap;
  const Bytes sdma_from = config.host.cores.sdma_from;
  if (ring <= PioConfig().sdma.ring || sdma_from == 0 || most < sdma_from) {
    return;
  }
  const auto places_in = [&](unsigned entries) {
    return SdmaArea{0, workload.buffer_size / 2, entries, (most + 3) / 4 * 4 + kQwBytes}.places();
  };
  const unsigned places = places_in(ring);
  if (ring / 2 > 2 * places + 1 && places_in(ring / 2) == places) {
    warnings.push_back(
        fmt::format("device.pio.sdma.ring: {} descriptors, and half of workload.buffer_size has "
                    "room for {} packets of up to two each: the ring never fills; expected up to "
                    "{}, or a larger workload.buffer_size",
                    ring, places, ring / 2));
  }
}

// [PIO-12.28]
void warn_of_starved_vls(const Config& config, Warnings& warnings) {
  const CoresConfig& cores = config.host.cores;
  const auto& egress = config.device.pio.egress;
  const bool has_tables = !egress.high.empty() || !egress.low.empty();
  std::vector<unsigned> starved;
  for (unsigned vl = 0; has_tables && vl < std::min(used_vls(config), kDataVls); ++vl) {
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
  } else {
    warn_of_idle_weights(config, warnings);
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

/// Nothing is returned but by force. [PIO-7.3, 7.9]
void warn_of_no_threshold(const Config& config, Warnings& warnings) {
  if (config.device.pio.threshold == 0 && config.host.cores.credit_requests == 0) {
    warnings.emplace_back(
        "device.pio.threshold: 0, and host.cores.credit_requests: 0, so that threads write "
        "ForceReturn for all credits that they get; expected 1 or more, or "
        "host.cores.credit_requests");
  }
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
    warn_of_idle_stall(config, own);
    warn_of_long_rings(config, own);
    warn_of_idle_threads(config, own);
    warn_of_many_deep_contexts(config, own);
    warn_of_no_threshold(config, own);
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
