// SPDX-License-Identifier: Apache-2.0
/// A network of hosts in packets, hundreds of them: fabric, hosts, flows and failures, by one queue
/// of events. Nothing outside of it acts, so that its one process runs ahead of the kernel's time
/// by up to a quantum. [NW-1]
// Longer than 150 lines: flows, queue pairs, sessions and ports of all hosts meet here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/component.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "network/fabric_background.h"
#include "network/fabric_fault.h"
#include "network/flow_book.h"
#include "network/host_connection.h"
#include "network/host_sender.h"
#include "network/packet_capture.h"
#include "network/packet_fabric.h"
#include "network/session_agent.h"
#include "network/srdma_result.h"
#include "srdma/port_pairs.h"

namespace flitwise {

struct PacketNetworkConfig {
  NetworkConfig network;
  SrdmaConfig srdma;
  FlowsConfig flows;
  TraceConfig trace;
  std::uint64_t seed = 1;

  static PacketNetworkConfig of(const Config& config);
};

class PacketNetwork final : public ComponentModule {
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
  struct Draining {
    SessionId id = 0;
    SessionTuple tuple;
  };
  struct alignas(kCacheLine) End {
    std::unique_ptr<HostConnection> connection;
    std::uint32_t peer = 0;      // its end of the connection
    Time armed = Time::never();  // the next event of its timer
    bool has_turn = false;
    bool is_waiting = false;                                 // it stands in the list of its group
    HostConnection::Held held = HostConnection::Held::kNot;  // as its port counts it
    std::uint32_t flows = 0;               // and parts, that have been posted to its group
    std::vector<Draining> draining;        // of those that stand
    std::vector<std::uint32_t> waiting;    // of the first of a group: its ends that had to wait
    SessionAgent::Group* group = nullptr;  // null: sessions stand
  };
  struct Agent {
    std::unique_ptr<SessionAgent> agent;
    Time armed = Time::never();  // the next event of its timers
  };
  static constexpr std::uint32_t kNoEnd = ~0U;

  void start_capture();
  void work();
  void run_until(Time limit);
  void fetch_ahead();
  void fetch_for_arrival(unsigned steps, PortId port);
  void fetch_for_send(unsigned steps, NodeId host);
  void arrive(PortId port);
  void send(NodeId host);
  void put_on_wire(NodeId host, FabricPackets::Index index);
  const CmMessage* message_of(FabricPackets::Index index);
  void expire(std::uint32_t end);
  void resume(PortId port);
  void start_flow();
  void wake(NodeId host);
  void offer(std::uint32_t end);
  void offer_others(const HostConnection& first, std::uint32_t end);
  void note_waiting(std::uint32_t end);
  void arm(std::uint32_t end, Time when);
  void after(std::uint32_t end);
  void post(std::uint32_t first, const Flow& flow);
  Time ideal(const Flow& flow) const;

  // packet_network_limits.cpp
  WaitResult wire_wait(PortId port) const;
  RequestRoute route() const;

  // packet_network_sessions.cpp
  void make_agents();
  std::uint32_t connect(NodeId source, NodeId destination);
  void add_pair(NodeId source, NodeId destination, std::uint32_t first, Random& random,
                KeyedStream& salts);
  PortPairs& ports_of(NodeId host);
  unsigned add_sessions(std::uint32_t end, unsigned count);
  void close_standing(std::uint32_t end);
  void obey(std::uint32_t end, const ControlDecision& decision);
  SessionAgent& agent_of(const End& end) const;
  bool has_group(std::uint32_t end);
  bool is_admitted(const FabricPacket& packet);
  bool next_control(NodeId host, FabricPackets::Index index);
  void take_control(FabricPackets::Index index);
  void expire_sessions(NodeId host);
  void close_drained(std::uint32_t end);
  void follow(SessionAgent& agent);
  void post_waiting(std::uint32_t end);
  std::vector<SrdmaSessionResult> sessions() const;

  const PacketNetworkConfig config_;
  const Random random_;
  const NetworkPlan plan_;
  Wakeup wakeup_;
  EventQueue events_;
  FabricPackets packets_;
  PacketFabric fabric_;
  NetworkHostRules rules_;
  FlowBook flows_;
  NetworkHostMemory memory_;
  std::vector<End> ends_;
  std::vector<std::uint32_t> offered_;             // by offer_others()
  std::vector<HostSender> ports_;                  // by host
  std::vector<std::uint32_t> end_of_;              // by source and destination; kNoEnd
  std::vector<std::unique_ptr<PortPairs>> pairs_;  // by host
  std::vector<SessionId> next_session_;            // by end / 2
  std::vector<Agent> agents_;                      // by host; empty: sessions stand
  std::unordered_map<FabricPackets::Index, CmMessage> control_;  // messages on their way, or lost
  std::multimap<std::uint32_t, Flow> waiting_;                   // by end: until its group stands
  SessionLog log_;
  std::unique_ptr<PacketCapture> capture_;  // null: nobody watches
  Time begin_{}, now_{};                    // of the first flow, of the last event
  FabricBackground background_;
  FabricFault fault_;
  std::uint64_t bytes_ = 0, sent_ = 0, received_ = 0, unknown_ = 0;
};

}  // namespace flitwise
