// SPDX-License-Identifier: Apache-2.0
/// Session groups of all hosts of a network of packets, where their handshake takes time: an agent
/// a host, the control messages on their way, and flows that wait for a group. [HS-1]
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "flitwise/config.h"
#include "network/event_queue.h"
#include "network/network_ends.h"
#include "network/session_agent.h"

namespace flitwise {

class NetworkAgents {
 public:
  /// Whose connections, ports and flows they are.
  class Owner {
   public:
    virtual void agent_has_message(NodeId host) = 0;
    /// Sessions of the end have come, changed or gone.
    virtual void sessions_have_changed(std::uint32_t end) = 0;
    virtual void post(std::uint32_t end, const Flow& flow) = 0;

   protected:
    ~Owner() = default;
  };
  /// All but the configuration outlive it.
  NetworkAgents(const SrdmaConfig& srdma, NodeId hosts, std::uint64_t seed,
                const NetworkHostRules& rules, NetworkEnds& ends, EventQueue& events,
                SessionLog& log, Owner& owner);

  /// Ends from that number on are new; each stands behind the first of its host.
  void add(std::uint32_t first);
  /// May a flow be posted? Else it waits for the group of its hosts, which is asked for.
  bool has_group(std::uint32_t end, const Flow& flow, Time now);
  /// See SessionAgent.
  bool admits(const FabricPacket& packet, Time now);
  void obey(std::uint32_t end, const ControlDecision& decision, Time now);
  void close_drained(std::uint32_t end, Time now);
  /// The time of a host may have come.
  void expire(NodeId host, Time now);

  // ---- control messages, by the place of their packet
  /// The next one that leaves the host, if there is one.
  bool next(NodeId host, FabricPackets::Index index, FabricPacket& packet);
  /// REQUIRES: the packet there is one.
  const CmMessage& message_at(FabricPackets::Index index) const { return control_.at(index); }
  void receive(FabricPackets::Index index, const FabricPacket& packet, Time now);

  // ---- questions
  const SessionAgent& agent(NodeId host) const { return *agents_[host].agent; }
  NodeId hosts() const { return static_cast<NodeId>(agents_.size()); }

 private:
  struct Agent {
    std::unique_ptr<SessionAgent> agent;
    Time armed = Time::never();  // the next event of its timers
  };
  SessionAgent& agent_of(const NetworkEnd& end) {
    return *agents_[end.connection->ends().own].agent;
  }
  void follow(SessionAgent& agent, Time now);
  void post_waiting(std::uint32_t end, Time now);

  const SrdmaConfig srdma_;
  const NetworkHostRules& rules_;
  NetworkEnds& ends_;
  EventQueue& events_;
  Owner& owner_;
  std::vector<Agent> agents_;                                    // by host
  std::unordered_map<FabricPackets::Index, CmMessage> control_;  // on their way, or lost
  std::multimap<std::uint32_t, Flow> waiting_;                   // by end: until its group stands
};

}  // namespace flitwise
