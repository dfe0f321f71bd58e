// SPDX-License-Identifier: Apache-2.0
/// Session groups of one host of mode packet, where their handshake takes time: the rules are those
/// of ConnectionManager and SessionGroups; here is what its connections are told of them. [HS-1]
/// In: control messages, decisions of control, time. Out: control messages; sessions of its
/// connections that come, change and go; ends that may go on. A packet asks admits() alone.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "network/host_connection.h"
#include "network/session_log.h"
#include "srdma/connection_manager.h"
#include "srdma/receive_checks.h"

namespace flitwise {

/// What all agents of a network go by.
struct SessionAgentRules {
  SessionAgentRules(const SrdmaConfig& srdma, unsigned hosts, std::uint64_t run_seed);

  SessionRules sessions;
  PortRules ports;
  CmRules manager;  ///< but for the address
  unsigned initial = 2;
  std::uint64_t seed = 1;
};

class SessionAgent {
 public:
  /// The group with one peer, at this end.
  struct Group {
    HostConnection* connection = nullptr;
    std::uint32_t end = 0;  ///< what the network calls it
    std::optional<GroupSlot> slot;
    bool is_up = false;

   private:
    friend class SessionAgent;
    std::uint64_t asked = 0;            // ticket of the connection; 0: this end has not asked
    std::vector<std::uint64_t> adding;  // tickets of sessions that control adds
    std::vector<SessionPlace> draining;
  };

  /// rules and log outlive it.
  SessionAgent(const SessionAgentRules& rules, NodeId host, SessionLog& log);
  SessionAgent(const SessionAgent&) = delete;
  SessionAgent& operator=(const SessionAgent&) = delete;

  /// A connection of the host that may be asked for, by either end; it outlives the agent.
  Group& add(std::uint32_t end, HostConnection& connection);
  /// Asks for the group, unless it stands or has been asked for. [HS-1]
  void connect(Group& group, Time now);
  /// What control of sessions has decided, and how old gaps may be. [CT-5] [CT-6] [RX-3]
  void obey(Group& group, const ControlDecision& decision, Time now);
  /// Sessions that drain go once nothing that this end has sent by them is on its way, and the
  /// peer has agreed. [SG-4]
  void close_drained(Group& group, Time now) {
    if (!group.draining.empty()) {
      close_empty(group, now);
    }
  }

  /// Is the packet for a queue pair of the session that it came by? Else it is dropped and counted.
  /// [RX-1]
  bool admits(const FabricPacket& packet, Time now);
  void receive(const CmMessage& message, NodeId from, Time now);
  /// When expire() wants to be called.
  Time due() const { return manager_.next_deadline(); }
  void expire(Time now);

  bool has_message() const { return !messages_.empty(); }
  /// REQUIRES: has_message().
  ConnectionManager::Outgoing take_message();
  /// Ends whose groups have changed since the last call: they may have something to do.
  std::vector<std::uint32_t> take_changed() { return std::exchange(changed_, {}); }

  const char* state_of(const Group& group, SessionId session) const;
  std::uint64_t count(ReceiveCounter counter) const { return checks_.count(counter); }
  const ConnectionManager::Counts& counts() const { return manager_.counts(); }
  NodeId host() const { return host_; }

 private:
  void settle(Time now);
  void take(const SessionEvent& event, Time now);
  void take_session(Group& group, const SessionEvent& event, Time now);
  void end_exchange(Group& group, const SessionEvent& event, Time now);
  void add_session(Group& group, const SessionEvent& event, Time now);
  void settle_eligible(Group& group);
  void close_empty(Group& group, Time now);
  void fail(Group& group, CmReason reason, Time now);
  void note(const Group& group, const char* what, const char* cause, Time now,
            std::optional<SessionId> session = std::nullopt);
  Group& group_at(GroupSlot slot);

  const NodeId host_;
  const unsigned initial_;
  SessionLog& log_;
  SessionGroups groups_;
  ConnectionManager manager_;
  ReceiveChecks checks_;
  std::map<NodeId, Group> by_peer_;
  std::deque<ConnectionManager::Outgoing> messages_;
  std::vector<std::uint32_t> changed_;
};

}  // namespace flitwise
