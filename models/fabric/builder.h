// SPDX-License-Identifier: Apache-2.0
/// Makes the fabric of one configuration along its graph and binds it, and lists the components of
/// the machine. A new kind of component is made and bound here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "results/tables.h"

namespace flitwise {

/// Names of the links from a device up to its root port.
std::vector<std::string> links_above(const Graph& graph, NodeIndex node);
/// The way of reads that an engine of a device makes; `place`: that its waits name.
RequestRoute read_route(const Graph& graph, const FabricDevice& device, std::string place);
/// The same of each kind of request of its DMA engine, or of what stands in its place.
std::vector<DmaEngine::Route> dma_routes(const Graph& graph, const FabricDevice& device,
                                         const std::string& place);

class Builder {
 public:
  explicit Builder(Fabric& fabric);
  void build();

  /// Components of one kind: how they are listed once the fabric is built, and made if nothing
  /// else needed them before; and their table of statistics, where they add one.
  /// docs/add_a_component.md
  struct Kind {
    void (*list)(Fabric& fabric);
    const StatisticsTable& (*table)() = nullptr;
  };
  /// In the order of results: the machine has what these list, and nothing more.
  static std::vector<Kind>& kinds();
  /// The tables of all kinds are tables of results from now on.
  static void add_tables();

  // ---- for engines (fabric/engine_kinds.h)
  Fabric& fabric() { return fabric_; }
  /// With the overrides of its root port, which come last.
  Config at_root_port(const FabricDevice& device) const;
  /// Engines do not move in step: with the seed of one that has that position.
  Config with_own_seed(Config config, const std::string& position) const;
  /// Once all devices have their engines, in the order of the calls.
  void join_later(std::function<void()> join) { joins_.push_back(std::move(join)); }

 private:
  /// Both sockets of a port or an agent, to one end of a link.
  template <class To, class From>
  static void bind(To& to_link, From& from_link, Link::Sockets& link, LinkSide side) {
    const auto end = static_cast<std::size_t>(side);
    to_link.bind(*link.from[end]);
    link.to[end]->bind(from_link);
  }
  void build_host(unsigned host);
  void build_below(NodeIndex node);
  void add_link(NodeIndex node, const Config& config);
  void add_switch(NodeIndex node, const Config& config, Link& link);
  void add_root_port(NodeIndex node);
  LinkBelow link_below(const FabricDevice& device) const;

  void add_device(NodeIndex node, const Config& config, Link& link);
  void add_handles(FabricDevice& device, const Config& config);
  void assign_handles();

  // CXL and engines: builder_agents.cpp.
  void add_memory(FabricDevice& device, Link& link);
  void add_shared_memory(FabricDevice& device, Link& link, const std::string& host,
                         const std::string& memory);
  void add_cache(FabricDevice& device, Link& link);
  void add_gate(FabricDevice& device, const HostConfig& host);
  void add_engines(FabricDevice& device);
  void check_attachments() const;
  bool add_attached(FabricDevice& device);
  void add_ring(FabricDevice& device);
  std::unique_ptr<DmaEngine> add_engine(FabricDevice& device, const std::string& name,
                                        const Config& config, bool is_of_host, Time clock,
                                        std::function<void()> wake);

  Fabric& fabric_;
  const Graph& graph_;
  const Fabric::Surroundings& surroundings_;
  const Random random_;
  std::vector<std::uint8_t> caches_;        // by host, made so far
  std::vector<CacheWatch*> cache_watches_;  // by host, or null
  std::vector<std::size_t> handle_groups_;  // by device: the first of its group
  std::vector<Bytes> buffer_bases_;         // by device
  std::vector<std::function<void()>> joins_;
};

}  // namespace flitwise
