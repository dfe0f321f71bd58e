// SPDX-License-Identifier: Apache-2.0
// All components of a machine, in the order of its results: also those that compare others, the two
// ends of handles, and what goes in with what comes out.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/ranges.h"
#include "cxl/cxl_agents.h"
#include "fabric/builder.h"
#include "fabric/engine_kinds.h"
#include "network/flow_book.h"
#include "network/session_log.h"
#include "network/srdma_result.h"

namespace flitwise {
namespace {

CheckResult same_bytes(const std::string& name, std::uint64_t sent, std::uint64_t arrived) {
  return {name, sent == arrived, fmt::format("{} sent, {} arrived", sent, arrived)};
}

/// The handles of one device, at both of their ends.
class HandlePair final : public Bystander {
 public:
  explicit HandlePair(const FabricDevice& device) : Bystander(device.name), device_(device) {}

  void start_window() override {
    if (const std::optional<PartitionId> own = partition()) {
      device_.handles->table().reset_statistics(*own);
    }
  }
  void report(RunResult& result) const override {
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
  // Both ends of a conforming device agree. [DHI S2]
  std::vector<CheckResult> checks_at_rest() const override {
    const DhiAgent& agent = device_.endpoint->dhi();
    if (!device_.engine || !agent.is_active()) {
      return {};
    }
    const unsigned apart = device_.handles->table().mismatches(*agent.table());
    return {{name() + std::string(": both ends agree on every handle"), apart == 0,
             fmt::format("{} handles mean two domains", apart)}};
  }

 private:
  std::optional<PartitionId> partition() const {
    return device_.handles->table().partition_of(Bdf::of(device_.buses.secondary, 0, 0));
  }

  const FabricDevice& device_;
};

/// Handle messages of devices that have no share of a table.
class HandleStrangers final : public Bystander {
 public:
  explicit HandleStrangers(const HostHandles& handles)
      : Bystander("host handles"), handles_(handles) {}

  Counts errors() const override {
    return {{"handle_without_partition", handles_.table().statistics_of_others().rejected()}};
  }

 private:
  const HostHandles& handles_;
};

/// Payload of MWr: what devices sent is in memory, was an interrupt, was refused and counted, or
/// was lost with a link that went down. A switch on the way may refuse some, or send it to another
/// device, and is looked at on either side.
class PostedBytes final : public Bystander {
 public:
  explicit PostedBytes(const Fabric& fabric) : Bystander("posted bytes"), fabric_(fabric) {}

  std::vector<CheckResult> checks() const override {
    const Graph& graph = fabric_.graph;
    std::uint64_t sent = 0, sent_to_switches = 0, settled = 0, settled_above_switches = 0;
    for (const FabricDevice& device : fabric_.devices) {
      (device.is_below_switch ? sent_to_switches : sent) +=
          device.endpoint->counters().posted_bytes +
          (device.outer == nullptr ? 0 : device.outer->posted_bytes());
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
    if (!graph.switches().empty()) {
      add_checks_of_switches(sent_to_switches, settled_above_switches, all);
    }
    return all;
  }

 private:
  // At downstream ports from devices and from other switches; at upstream ports to the latter and
  // to root ports.
  void add_checks_of_switches(std::uint64_t sent, std::uint64_t settled,
                              std::vector<CheckResult>& all) const {
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
    all.push_back(same_bytes("posted bytes of devices came to the switch", sent, from_devices));
    if (graph.switches().size() > 1) {
      all.push_back(
          same_bytes("posted bytes between switches arrived", to_switches, from_switches));
    }
    all.push_back(
        same_bytes("posted bytes from the switch were written or refused", to_root_ports, settled));
  }

  const Fabric& fabric_;
};

/// Packets that somebody has and nobody should.
class PacketBalance final : public Bystander {
 public:
  explicit PacketBalance(const Fabric& fabric) : Bystander("packets"), fabric_(fabric) {}

  std::vector<CheckResult> checks() const override {
    const auto on_wire = sum_of<std::size_t>(
        fabric_.links, [](const FabricLink& one) { return one.link->on_wire(); });
    const std::size_t in_use = fabric_.surroundings.pool.in_use();
    return {{"no packet is left but on a wire", in_use == on_wire,
             fmt::format("{} in use, {} on wires", in_use, on_wire)}};
  }

  std::vector<CheckResult> checks_at_rest() const override {
    const FramePool& frames = fabric_.frames;
    if (frames.allocated() == 0) {
      return {};
    }
    const auto held = sum_of<std::size_t>(fabric_.devices, [](const FabricDevice& one) {
      return one.sender ? one.sender->held_frames() : 0;
    });
    return {{"no frame is left but in reorder buffers", frames.in_use() == held,
             fmt::format("{} in use, {} in reorder buffers", frames.in_use(), held)}};
  }

 private:
  const Fabric& fabric_;
};

/// Index of the device of which this is true, if there is one.
template <class Condition>
std::optional<std::size_t> device_that(const Fabric& fabric, Condition condition) {
  const auto found = std::find_if(fabric.devices.begin(), fabric.devices.end(), condition);
  return found == fabric.devices.end() ? std::nullopt
                                       : std::optional<std::size_t>(found - fabric.devices.begin());
}

void list_devices(Fabric& fabric) {
  for (std::size_t i = 0; i < fabric.devices.size(); ++i) {
    FabricDevice& device = fabric.devices[i];
    for (Component* const one : device.components) {
      fabric.components.add(one, i);
    }
    fabric.components.own(std::make_unique<HandlePair>(device), i);
  }
}

void list_receivers(Fabric& fabric) {
  for (std::size_t i = 0; i < fabric.devices.size(); ++i) {
    if (Component* const receiver = fabric.devices[i].receiver) {
      fabric.components.add(*receiver, i);
    }
  }
}

void list_network(Fabric& fabric) {
  fabric.components.add(fabric.network.get());
  fabric.components.add(fabric.flows.get());
}

// One above a switch is of all devices below it.
void list_root_ports(Fabric& fabric) {
  for (const auto& port : fabric.root_ports) {
    fabric.components.add(*port, device_that(fabric, [&](const FabricDevice& device) {
      return device.root_port == port.get() && !device.is_below_switch;
    }));
  }
  for (const auto& handles : fabric.handles) {
    fabric.components.own(std::make_unique<HandleStrangers>(*handles));
  }
}

void list_links(Fabric& fabric) {
  for (std::size_t link = 0; link < fabric.links.size(); ++link) {
    fabric.components.add(
        *fabric.links[link].link,
        device_that(fabric, [&](const FabricDevice& device) { return device.link == link; }));
  }
}

void list_switches(Fabric& fabric) {
  for (const auto& one : fabric.switches) {
    fabric.components.add(*one);
  }
}

void list_homes(Fabric& fabric) {
  for (unsigned host = 0; host < fabric.homes.size(); ++host) {
    CxlHome* const home = fabric.homes[host].get();
    if (home == nullptr) {
      continue;
    }
    fabric.components.add(*home);
    auto directory = std::make_unique<CacheDirectory>(*home);
    for (const FabricDevice& device : fabric.devices_of(host)) {
      if (device.cxl.cache != nullptr) {
        directory->add(*device.cxl.cache, device.cxl.home_port);
      }
    }
    fabric.components.own(std::move(directory));
  }
  for (const auto& watch : fabric.cache_watches) {
    fabric.components.add(*watch);
  }
}

void list_hosts(Fabric& fabric) {
  for (const auto& host : fabric.surroundings.hosts) {
    host->list(fabric.components);
  }
}

void list_balances(Fabric& fabric) {
  fabric.components.own(std::make_unique<PostedBytes>(fabric));
  fabric.components.own(std::make_unique<PacketBalance>(fabric));
}

void list_nothing(Fabric& /*fabric*/) {}

}  // namespace

std::vector<Builder::Kind>& Builder::kinds() {
  static std::vector<Kind> all = {{list_devices, ring_table},
                                  {list_receivers},
                                  {list_network, network_port_table},
                                  {list_nothing, network_flow_table},
                                  {list_nothing, flow_time_table},
                                  {list_nothing, srdma_table},
                                  {list_nothing, session_event_table},  // of mode packet
                                  {list_root_ports},
                                  {list_links},
                                  {list_switches},
                                  {list_homes},
                                  {list_hosts},
                                  {list_balances}};
  return all;
}

void Builder::add_tables() {
  for (const EngineKind& kind : engine_kinds()) {
    for (const auto table : kind.tables) {
      add_table(table());
    }
  }
  for (const Kind& kind : kinds()) {
    if (kind.table != nullptr) {
      add_table(kind.table());
    }
  }
}

}  // namespace flitwise
