// SPDX-License-Identifier: Apache-2.0
/// A network of hosts in packets, hundreds of them: fabric, hosts, flows and failures, by one queue
/// of events. Nothing outside of it acts, so that its one process runs ahead of the kernel's time
/// by up to a quantum. [NW-1]
#pragma once

#include <boost/circular_buffer.hpp>

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
#include "network/host_connection.h"
#include "network/packet_fabric.h"
#include "network/srdma_result.h"
#include "srdma/port_pairs.h"

namespace flitwise {

struct PacketNetworkConfig {
  NetworkConfig network;
  SrdmaConfig srdma;
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
  void report(RunResult& result) const override;
  Counts errors() const override;
  std::vector<CheckResult> checks() const override;
  std::vector<CheckResult> checks_at_rest() const override;
  Time last_end() const override { return now_; }  ///< of the last event so far

 private:
  /// A host's port: whose turn it is to send by it.
  struct Port {
    boost::circular_buffer<std::uint32_t> turns;  // ends that may have something to send
    bool is_due = false;                          // an event of it is in the queue
  };
  struct alignas(kCacheLine) End {
    std::unique_ptr<HostConnection> connection;
    std::uint32_t peer = 0;      // its end of the connection
    Time armed = Time::never();  // the next event of its timer
    bool has_turn = false;
    std::vector<SessionId> draining;
  };

  void work();
  void run_until(Time limit);
  void fetch_ahead();
  void fetch_for_arrival(unsigned steps, PortId port);
  void fetch_for_send(unsigned steps, NodeId host);
  void arrive(PortId port);
  void send(NodeId host);
  void expire(std::uint32_t end);
  void resume(PortId port);
  void start_flow();
  void wake(NodeId host);
  void offer(std::uint32_t end);
  void arm(std::uint32_t end, Time when);
  void after(std::uint32_t end);
  std::uint32_t connect(NodeId source, NodeId destination);
  void add_sessions(std::uint32_t end, unsigned count);
  void obey(std::uint32_t end, const ControlDecision& decision);
  Time ideal(const Flow& flow) const;
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
  std::vector<Port> ports_;                        // by host
  std::vector<std::uint32_t> end_of_;              // by source and destination; kNone
  std::vector<std::unique_ptr<PortPairs>> pairs_;  // by host
  std::vector<SessionId> next_session_;            // by end / 2
  Time now_{};
  FabricBackground background_;
  FabricFault fault_;
  std::uint64_t bytes_ = 0, sent_ = 0, received_ = 0, unknown_ = 0;
};

}  // namespace flitwise
