// SPDX-License-Identifier: Apache-2.0
/// A network of hosts in packets, hundreds of them: fabric, hosts, flows and failures, by one queue
/// of events. Nothing outside of it acts, so that its one process runs ahead of the kernel's time
/// by up to a quantum. [NW-1]
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "network/fabric_background.h"
#include "network/fabric_fault.h"
#include "network/flow_book.h"
#include "network/host_sender.h"
#include "network/network_agents.h"
#include "network/network_ends.h"
#include "network/network_fetch.h"
#include "network/packet_capture.h"
#include "network/packet_fabric.h"
#include "network/standing_sessions.h"

namespace flitwise {

struct PacketNetworkConfig {
  NetworkConfig network;
  SrdmaConfig srdma;
  FlowsConfig flows;
  TraceConfig trace;
  std::uint64_t seed = 1;

  static PacketNetworkConfig of(const Config& config);
};

class PacketNetwork final : public ComponentModule, private NetworkAgents::Owner {
 public:
  PacketNetwork(const sc_core::sc_module_name& name, const PacketNetworkConfig& config,
                std::unique_ptr<FlowSource> flows);

  bool is_done() const override { return flows_.is_done(); }
  bool is_quiet() const override { return is_done() && packets_.in_use() == 0; }
  bool is_exhausted() const override { return is_done(); }
  void add_progress(Progress& sum) const override;
  Time waits_until() const override;
  std::string waiting() const override;
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override;
  std::vector<CheckResult> checks() const override;
  std::vector<CheckResult> checks_at_rest() const override;
  Time last_end() const override { return now_; }  ///< of the last event so far

 private:
  void start_capture();
  void work();
  void run_until(Time limit);
  std::uint32_t connect(NodeId source, NodeId destination);

  // ---- packets
  void arrive(PortId port);
  void receive(FabricPacket& packet);
  void send(NodeId host);
  void put_on_wire(NodeId host, FabricPackets::Index index);
  const CmMessage* message_of(FabricPackets::Index index) const;
  void resume(PortId port);

  // ---- whose turn it is
  void after(std::uint32_t end);
  void offer(std::uint32_t end);
  void offer_others(const HostConnection& first, std::uint32_t end);
  void note_waiting(std::uint32_t end);
  void wake(NodeId host);
  void arm(std::uint32_t end, Time when);
  void expire(std::uint32_t end);

  // ---- flows
  void start_flow();
  void post(std::uint32_t first, const Flow& flow) override;
  Time ideal(const Flow& flow) const;
  void agent_has_message(NodeId host) override { wake(host); }
  void sessions_have_changed(std::uint32_t end) override { after(end); }

  // packet_network_limits.cpp
  WaitResult wire_wait(PortId port) const;
  RequestRoute route() const;

  const PacketNetworkConfig config_;
  const Random random_;
  const NetworkPlan plan_;
  Wakeup wakeup_;
  EventQueue events_;
  FabricPackets packets_;
  PacketFabric fabric_;
  const NetworkHostRules rules_;
  FlowBook flows_;
  NetworkEnds ends_;
  std::vector<HostSender> ports_;       // by host
  std::vector<std::uint32_t> offered_;  // by offer_others()
  StandingSessions standing_;
  SessionLog log_;
  std::unique_ptr<NetworkAgents> agents_;   // null: sessions stand
  std::unique_ptr<PacketCapture> capture_;  // null: nobody watches
  FabricBackground background_;
  FabricFault fault_;
  const NetworkFetch fetch_;
  Time begin_{}, now_{};  // of the first flow, of the last event
  std::uint64_t bytes_ = 0, sent_ = 0, received_ = 0, unknown_ = 0;
};

}  // namespace flitwise
