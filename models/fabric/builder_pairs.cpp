// SPDX-License-Identifier: Apache-2.0
// Handles at both ends, and sums.
#include "fabric/builder_pairs.h"

#include <fmt/format.h>

#include <optional>

#include "dhi/coherence.h"

namespace flitwise {
namespace {

CheckResult same_bytes(const std::string& name, std::uint64_t sent, std::uint64_t arrived) {
  return {name, sent == arrived, fmt::format("{} sent, {} arrived", sent, arrived)};
}

}  // namespace

std::optional<PartitionId> HandlePair::partition() const {
  return device_.handles->table().partition_of(Bdf::of(device_.buses.secondary, 0, 0));
}

void HandlePair::start_window() {
  if (const std::optional<PartitionId> own = partition()) {
    device_.handles->table().reset_statistics(*own);
  }
}

void HandlePair::report(RunResult& result) const {
  DhiResult row = device_.endpoint->dhi_result();
  row.rejected = 0;
  if (const std::optional<PartitionId> own = partition()) {
    const HostHandleStatistics& statistics = device_.handles->table().statistics(*own);
    row.wrong_domain = statistics.wrong_domain;
    row.rejected = statistics.rejected();
    for (int status = 1; status < kHandleStatuses; ++status) {
      if (const std::uint64_t count = statistics.rejections[static_cast<std::size_t>(status)]) {
        row.rejections[name_of(static_cast<HandleStatus>(status))] = count;
      }
    }
  }
  result.rows<DhiResult>().push_back(std::move(row));
}

std::vector<CheckResult> HandlePair::checks_at_rest() const {
  const DhiAgent& agent = device_.endpoint->dhi();
  if (!device_.engine || !agent.is_active()) {
    return {};
  }
  const unsigned apart = mismatches(*agent.table(), device_.handles->table());
  return {{name() + std::string(": both ends agree on every handle"), apart == 0,
           fmt::format("{} handles mean two domains", apart)}};
}

std::vector<CheckResult> PostedBytes::checks() const {
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
  const std::vector<CheckResult> more =
      checks_of_switches(sent_to_switches, settled_above_switches);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// At downstream ports from devices and from other switches; at upstream ports to the latter and
// to root ports.
std::vector<CheckResult> PostedBytes::checks_of_switches(std::uint64_t sent,
                                                         std::uint64_t settled) const {
  const Graph& graph = fabric_.graph;
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
  std::vector<CheckResult> all;
  all.push_back(same_bytes("posted bytes of devices came to the switch", sent, from_devices));
  if (graph.switches().size() > 1) {
    all.push_back(same_bytes("posted bytes between switches arrived", to_switches, from_switches));
  }
  all.push_back(
      same_bytes("posted bytes from the switch were written or refused", to_root_ports, settled));
  return all;
}

std::vector<CheckResult> PacketBalance::checks() const {
  std::size_t on_wire = 0;
  for (const FabricLink& one : fabric_.links) {
    on_wire += one.link->on_wire();
  }
  const std::size_t in_use = fabric_.surroundings.pool.in_use();
  return {{"no packet is left but on a wire", in_use == on_wire,
           fmt::format("{} in use, {} on wires", in_use, on_wire)}};
}

}  // namespace flitwise
