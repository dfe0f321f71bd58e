// SPDX-License-Identifier: Apache-2.0
/// The switches between the network ports of adapters (docs/network.md): those of a network in
/// packets, driven in the time of the kernel, by frames. Hosts without an adapter send other
/// traffic alone.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/due_queue.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "network/fabric_background.h"
#include "network/fabric_fault.h"
#include "network/network_result.h"
#include "network/nic_port.h"
#include "network/packet_fabric.h"

namespace flitwise {

class AdapterNetwork final : public ComponentModule {
 public:
  struct Setup {
    NetworkConfig network;
    NetworkPlan plan;
    PacketFabricRules rules;
    Time latency{};  ///< from the last bit of a frame at its first switch to where that has decided
    std::string rate_key;  ///< of the configuration, for the rates of ports
    std::uint64_t seed = 1;
  };

  AdapterNetwork(const sc_core::sc_module_name& name, const Setup& setup);

  /// Before the simulation starts: the adapter of a host, by the name of its device. The port at
  /// the other end of its cable, for its sockets.
  NicPort& attach(NodeId host, const std::string& device, NicPort& nic);
  EdgeRate cable_of(NodeId host) const;
  NicPort& port_at(NodeId host) { return adapter_of(host)->port; }  ///< REQUIRES: attach(host)
  /// Adapters in the order of their coming; for captures.
  std::size_t adapters() const { return adapters_.size(); }
  NicPort& nic(std::size_t adapter) { return adapters_[adapter].port; }
  std::string name_of_port(std::size_t adapter) const;
  /// Names of the ports that a frame may leave switches by on its way, as waits have them: hop by
  /// hop, all that may be chosen.
  std::vector<std::vector<std::string>> ways(NodeId from, NodeId to) const;

  /// How long so many bytes take between two hosts that have the network for themselves.
  Time ideal(NodeId from, NodeId to, const FlowFraming& framing, std::uint64_t bytes) const {
    return fabric_.ideal(from, to, framing, bytes) + setup_.latency;
  }

  bool is_quiet() const override { return packets_.frames_in_use() == 0; }
  void add_progress(Progress& sum) const override;
  std::string waiting() const override;
  void start_window() override;
  void end_window() override;
  void extend_window() override { window_end_ = Time::never(); }
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override { return fabric_.drops_by_kind(); }
  std::vector<CheckResult> checks() const override;

 private:
  struct Adapter {
    Adapter(NodeId node, const std::string& name, const std::string& module, Time propagation,
            NicPort& nic)
        : host(node), device(name), own(nic), port(module.c_str(), propagation) {}
    const NodeId host;
    const std::string device;
    NicPort& own;       // at the device
    NicPort port;       // at the other end of its cable
    StallCount pauses;  // before the window
  };
  struct Arriving {
    FabricPackets::Index packet = FabricPackets::kNone;
    NodeId host = 0;
  };
  /// Of a port when the window began.
  struct Before {
    NetworkPortCounters counters;
    Time paused{}, busy{};
  };

  void work();
  void act(EventQueue::What event, Time now);
  void come(Adapter& adapter, Frame& frame);
  void add_arriving(NodeId host, FabricPackets::Index packet, Time last);
  void send_background(NodeId host, Time now);
  void deliver(FabricPackets::Index packet, PortId port);
  void stop(PortId port, bool is_paused, Time now);
  Adapter* adapter_of(NodeId host) const { return adapter_of_[host]; }
  /// That the port leads to; null: a switch is there, or a host without one.
  const Adapter* adapter_behind(PortId port) const {
    const NodeId to = fabric_.graph().port(port).to;
    return fabric_.graph().is_host(to) ? adapter_of(to) : nullptr;
  }
  std::string name_of(PortId port) const;
  Time until() const;

  const Setup setup_;
  Wakeup wakeup_;
  EventQueue events_;
  FabricPackets packets_;
  PacketFabric fabric_;
  FabricBackground background_;
  FabricFault fault_;
  std::deque<Adapter> adapters_;       // stay where they are
  std::vector<Adapter*> adapter_of_;   // by host; null: it has none
  DueQueue<Arriving> arriving_;        // at their first switches
  const std::vector<PortId> ports_;    // of switches
  std::vector<Before> before_;         // of these
  std::uint64_t came_ = 0, gone_ = 0;  // frames that have entered the first switch, left the last
  std::uint64_t other_sent_ = 0, other_over_ = 0;  // packets of other traffic, likewise
  Time window_begin_{}, window_end_ = Time::never();
};

}  // namespace flitwise
