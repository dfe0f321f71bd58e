// SPDX-License-Identifier: Apache-2.0
// The checks that a run ends with.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "dhi/coherence.h"
#include "system/machine.h"

namespace flitwise {
namespace {

void append(std::vector<CheckResult>& all, std::vector<CheckResult> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

CheckResult same_bytes(const std::string& name, std::uint64_t sent, std::uint64_t arrived) {
  return {name, sent == arrived, fmt::format("{} sent, {} arrived", sent, arrived)};
}

}  // namespace

std::vector<CheckResult> Machine::checks() const {
  std::vector<CheckResult> all;
  std::size_t on_wire = 0;
  for (const FabricLink& one : fabric_.links) {
    append(all, one.link->checks());
    on_wire += one.link->on_wire();
  }
  for (const auto& one : fabric_.root_ports) {
    append(all, one->checks());
  }
  for (const auto& one : fabric_.switches) {
    append(all, one->checks());
  }
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    const FabricDevice& device = fabric_.devices[i];
    append(all, device.endpoint->checks());
    if (device.mem_host) {
      append(all, device.mem_host->checks());
    }
    if (device.cache) {
      append(all, device.cache->checks());
    }
    if (device.hdm_host) {
      append(all, device.hdm_host->checks());
      append(all, device.hdm_device->checks());
      append(all, host_copies_check(device));
    }
    if (device.engine) {
      const std::uint64_t missing = software_[i].doorbells - device.engine->doorbells();
      const std::uint64_t lost =
          fabric_.links[device.link].link->losses(LinkSide::kUpstream).writes;
      all.push_back({device.name + ": every doorbell arrived or was lost", missing <= lost,
                     fmt::format("{} missing, {} writes lost with the link", missing, lost)});
      append(all, coherence_check(device));
    }
  }
  for (const auto& host : hosts_) {
    if (fabric_.homes[host->number]) {
      append(all, directory_check(*host));
      append(all, fabric_.cache_watches[host->number]->checks());
    }
  }
  for (const auto& watch : fabric_.memory_watches) {
    append(all, watch->checks());
  }
  for (const auto& host : hosts_) {
    append(all, host->checks());
  }
  append(all, monitors_.checks());
  for (const auto& one : isolation_) {
    append(all, one->checks(is_quiet()));
  }
  append(all, posted_bytes_checks());
  all.push_back({"no packet is left but on a wire", pool.in_use() == on_wire,
                 fmt::format("{} in use, {} on wires", pool.in_use(), on_wire)});
  return all;
}

// What the home believes of the caches is what they hold. [COH-3.1]
std::vector<CheckResult> Machine::directory_check(const HostNode& host) const {
  if (!is_quiet()) {
    return {};
  }
  std::size_t held = 0, apart = 0;
  for (const FabricDevice& device : fabric_.devices_of(host.number)) {
    if (device.cache) {
      device.cache->rules().for_each_line([&](std::uint64_t line, LineState state) {
        const LineHolders holders = fabric_.homes[host.number]->holders(line);
        const bool is_known = is_owned(state) ? holders.is_owner(device.home_port)
                                              : (holders.sharers() >> device.home_port & 1U) != 0;
        ++held;
        apart += is_known ? 0 : 1;
      });
    }
  }
  return {{host.prefix + "home: its directory says what the caches hold",
           apart == 0 && held == fabric_.homes[host.number]->copies(),
           fmt::format("{} lines in caches, {} of them unknown; {} in the directory", held, apart,
                       fabric_.homes[host.number]->copies())}};
}

// What a memory believes of the host's cache is what that holds. [COH-5.3]
std::vector<CheckResult> Machine::host_copies_check(const FabricDevice& device) const {
  if (!is_quiet()) {
    return {};
  }
  const DeviceMemory& memory = device.hdm_device->rules();
  std::size_t held = 0, apart = 0;
  device.hdm_host->rules().for_each_line([&](std::uint64_t line, LineState state) {
    const cxl::MetaValue believed = memory.host_state(line);
    ++held;
    apart += believed == (is_owned(state) ? cxl::MetaValue::kAny : cxl::MetaValue::kShared) ? 0 : 1;
  });
  return {{device.hdm_device->name() + std::string(": knows what the host holds"),
           apart == 0 && held == memory.host_copies(),
           fmt::format("{} lines in the host's cache, {} of them known otherwise; {} known", held,
                       apart, memory.host_copies())}};
}

// Both ends of the handles of a conforming device agree once no message is under way. [DHI S2]
std::vector<CheckResult> Machine::coherence_check(const FabricDevice& device) const {
  const DhiAgent& agent = device.endpoint->dhi();
  if (!agent.is_active() || !is_quiet()) {
    return {};
  }
  const std::size_t apart = mismatches(*agent.table(), device.handles->table()).size();
  return {{device.name + ": both ends agree on every handle", apart == 0,
           fmt::format("{} handles mean two domains", apart)}};
}

// Payload of MWr: what devices sent is in memory, was an interrupt, was refused and counted, or
// was lost with a link that went down. A switch on the way may refuse some, or send it to another
// device, and is looked at on either side.
std::vector<CheckResult> Machine::posted_bytes_checks() const {
  const Graph& graph = fabric_.graph;
  std::uint64_t sent = 0, sent_to_switches = 0, settled = 0, settled_above_switches = 0;
  for (const FabricDevice& device : fabric_.devices) {
    (device.is_below_switch ? sent_to_switches : sent) += device.endpoint->counters().posted_bytes;
  }
  for (std::size_t i = 0; i < fabric_.root_ports.size(); ++i) {
    const RootPortCounters& arrived = fabric_.root_ports[i]->counters();
    (graph.has_switch_in_tree(graph.root_ports()[i]) ? settled_above_switches : settled) +=
        arrived.written_bytes + arrived.interrupt_bytes + arrived.dropped_bytes;
  }
  for (const FabricLink& one : fabric_.links) {
    const std::uint64_t lost = one.link->losses(LinkSide::kDownstream).written_bytes;
    (graph.has_switch_in_tree(one.lower) ? settled_above_switches : settled) += lost;
  }
  std::vector<CheckResult> all;
  if (graph.switches().empty() || sent > 0) {
    all.push_back(same_bytes("posted bytes were written or refused", sent, settled));
  }
  if (graph.switches().empty()) {
    return all;
  }
  // At downstream ports from devices and from other switches; at upstream ports to the latter and
  // to root ports.
  std::uint64_t from_devices = 0, from_switches = 0, to_switches = 0, to_root_ports = 0;
  for (std::size_t i = 0; i < fabric_.switches.size(); ++i) {
    const Switch& sw = *fabric_.switches[i];
    const NodeIndex node = graph.switches()[i];
    const std::vector<NodeIndex>& lower = graph[node].lower;
    for (std::size_t port = 0; port < lower.size(); ++port) {
      const std::uint64_t in = sw.posted_bytes(static_cast<std::uint16_t>(port)).in;
      (graph.is(lower[port], NodeKind::kSwitch) ? from_switches : from_devices) += in;
    }
    const bool is_top = graph.is(graph.upper_of(node), NodeKind::kRootPort);
    (is_top ? to_root_ports : to_switches) += sw.posted_bytes(kUpstreamPort).out;
  }
  all.push_back(
      same_bytes("posted bytes of devices came to the switch", sent_to_switches, from_devices));
  if (graph.switches().size() > 1) {
    all.push_back(same_bytes("posted bytes between switches arrived", to_switches, from_switches));
  }
  all.push_back(same_bytes("posted bytes from the switch were written or refused", to_root_ports,
                           settled_above_switches));
  return all;
}

}  // namespace flitwise
