// SPDX-License-Identifier: Apache-2.0
/// The connection manager of one session group at one end, but for its handshakes: which session
/// each packet takes, what becomes of it, and when sessions are probed, added and closed. [6] to
/// [9]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/open_table.h"
#include "srdma/session_choice.h"
#include "srdma/session_control.h"
#include "srdma/session_monitor.h"
#include "srdma/weight_algorithms.h"

namespace flitwise {

struct BalancerSetup {
  MonitorSetup monitor;
  WeightSetup weights;
  ChoiceSetup choice;
  ControlSetup control;
  Time weight_interval = Time::from_us(10);
  std::optional<Time> apply_delay;  ///< weight_engine sw: till new weights apply [6.3]

  /// What stands in one part and concerns another: is_capability, has_echo.
  void agree();
};
/// Why there is no such group, a sentence each. thresholds: T_i of single sessions.
std::vector<std::string> refusals_of(const BalancerSetup& setup,
                                     const std::vector<double>& thresholds = {});

/// A session as it is added. A packet that leaves by it looks at the first three alone.
struct alignas(64) BalancedSession {
  SessionId id = 0;
  std::uint16_t epoch = 0;  ///< of the key that its packets leave by, kept for its owner
  SessionTuple tuple;
  std::uint32_t place = 0;          ///< what its owner calls it: kept for the owner alone
  double rated = 100e9;             ///< bits/s that it could carry
  std::optional<double> threshold;  ///< T_i
  bool is_secured = false;
  std::uint64_t state_bytes = 0;  ///< that the NIC holds for it [CT-2]
};

/// One that is closed, and whose index another one has.
struct PastSession {
  BalancedSession session;
  SessionStats stats;
  SessionScore score;
};

/// What is random in a group.
struct BalancerSeeds {
  SipKey salt;           ///< of the hash policies: from an unpredictable generator [SEL-8]
  const Random& random;  ///< of streams `weight`, `choice` and `phase`
};

/// Nothing is allocated but by add(), and at the first tick() behind it.
class SessionBalancer {
 public:
  /// `setup` outlives it, and has agree()d.
  SessionBalancer(const BalancerSetup& setup, const BalancerSeeds& seeds, Time now);

  // Sessions.
  /// Room for so many, so that add() allocates nothing for them.
  void reserve(std::size_t sessions);
  /// It is eligible: its state is ACTIVE. REQUIRES: no other open session has its id.
  SessionIndex add(Time now, const BalancedSession& session);
  /// Its state lets new packets leave by it, or does not. [SG-4]
  void set_eligible(SessionIndex session, bool is_eligible);
  void set_epoch(SessionIndex session, std::uint16_t epoch) { owned_[session].epoch = epoch; }
  /// It is CLOSED. Its index is free once nothing of it is in flight.
  void remove(SessionIndex session);
  /// Which one has the id; kNoSessionIndex. O(1).
  SessionIndex find(SessionId id) const;
  /// Another algorithm; sessions and choices go on. `setup` outlives it. [WT-C10]
  void change_weights(const WeightSetup& setup, const Random& random);

  // The cache. First what each packet touches of it,
  void fetch_state() const { fetch_between(this, &weights_); }
  // then the rows of what a packet of the session touches, or of the next that leaves:
  void fetch_rows(SessionId id) const {
    by_id_.fetch(id);
    monitor_.fetch_all();
  }
  void fetch_next_rows() const {
    choice_.fetch_next();
    monitor_.fetch_all();
  }
  // and then the session itself, for an answer or a request that leaves, a packet that comes,
  // and one that is echoed.
  void fetch_for_answer(SessionIndex session) const {
    flitwise::fetch(&owned_[session]);
    choice_.fetch(session);
  }
  void fetch_for_sent(SessionIndex session) const {
    fetch_for_answer(session);
    monitor_.fetch_for_sent(session);
  }
  void fetch_for_received(SessionIndex session) const {
    fetch_for_answer(session);
    monitor_.fetch_for_received(session);
  }
  void fetch_for_echo(SessionIndex session) const { monitor_.fetch_for_echo(session); }

  // Packets. See SessionMonitor and SessionChoice.
  /// The session of the next packet of a queue pair. It takes no notice: sent() does.
  ChosenSession choose(Time now, const PacketKey& key, QpChoice& own);
  /// Of an ACK, NAK or CNP that a packet of `cause` asked for. [SEL-7]
  ChosenSession answer(Time now, SessionIndex cause, const PacketKey& key, QpChoice& own);
  void assigned(SessionIndex session, std::uint32_t bytes) { monitor_.assigned(session, bytes); }
  void sent(Time now, SessionPacket& packet, SessionIndex session, std::uint32_t bytes) {
    monitor_.sent(now, packet, session, bytes);
  }
  void lost(Time now, SessionPacket& packet);
  void delivered(Time now, SessionPacket& packet);
  void recall(Time now, SessionPacket& packet) { monitor_.recall(now, packet); }
  void forget(Time now, SessionPacket& packet) { monitor_.forget(now, packet); }
  void timed_out(const SessionPacket& packet);
  void echo(Time now, SessionIndex session, Psn psn, SessionPacket* packet, Time hold, bool ce);
  void received(Time now, SessionIndex session, std::uint32_t bytes);
  void cnp(SessionIndex session) { monitor_.cnp(session); }
  void probe_sent(Time now, SessionIndex session, Psn psn) {
    monitor_.probe_sent(now, session, psn);
  }

  // Time.
  /// tick() wants to be called then; a later call makes up for it.
  Time next_tick() const { return next_weights_ < next_control_ ? next_weights_ : next_control_; }
  /// Updates weights, and looks for silent sessions; once a control interval decides. The owner
  /// does what the decision says: an add begins with begin_add(), and ends with add() and
  /// end_add(); a victim gets set_eligible(false) and remove(). decides: else it decides nothing.
  /// O(sessions).
  ControlDecision tick(Time now, bool decides = true);
  /// void visit(SessionIndex): each session by which a probe may leave now. has_queue: packets of
  /// the group wait. O(sessions): once a tick. [MO-3] [MO-4]
  template <class Visit>
  void for_each_probe(Time now, bool has_queue, Visit visit) const {
    for (SessionIndex session = 0; session < owned_.size(); ++session) {
      if (monitor_.wants_probe(now, session, has_queue)) {
        visit(session);
      }
    }
  }
  void begin_add(Time now) { control_.begin_add(now); }
  void end_add(Time now, bool is_done) { control_.end_add(now, is_done); }

  // Questions.
  SessionScore score(SessionIndex session) const { return weights_.score(session, stats(session)); }
  const SessionStats& stats(SessionIndex session) const { return monitor_.stats()[session]; }
  std::uint32_t in_flight(SessionIndex session) const { return monitor_.in_flight()[session]; }
  std::uint32_t in_flight() const { return monitor_.all_in_flight(); }  ///< of all sessions
  const BalancedSession& session(SessionIndex session) const { return owned_[session]; }
  /// Those that have sent, the first 4,096.
  const std::vector<PastSession>& past() const { return past_; }
  /// Indices so far, open or not.
  SessionIndex sessions() const { return static_cast<SessionIndex>(owned_.size()); }
  /// Σ over eligible sessions. [CT-2]
  double cost() const;
  /// The largest of the eligible sessions, 0 without a sample: the source of gap_timer. [RX-3]
  Time largest_rtt() const;
  const SessionControl& control() const { return control_; }
  const SessionChoice& choice() const { return choice_; }

 private:
  static std::uint64_t hash_of_id(const SessionId& id) { return id * kGoldenSpread; }
  /// Sessions may be used, or not any more; scores have changed.
  void settle();
  void mark_stale() {
    if (!setup_.apply_delay) {
      apply_at_ = Time{};
    }
  }
  void collect();
  void apply();
  ControlDecision decide(Time now);
  double cost_of(SessionIndex session) const;

  const BalancerSetup& setup_;
  // What a packet looks at, one beside the other.
  Time next_weights_, next_control_;
  Time apply_at_ = Time::never();
  std::vector<BalancedSession> owned_;  // by index
  OpenTable<SessionId, SessionIndex, hash_of_id> by_id_;
  SessionMonitor monitor_;
  SessionChoice choice_;
  // What updates and decisions look at.
  WeightingSystem weights_;
  SessionControl control_;
  std::vector<double> table_;  // weights on their way into force, which they are in at apply_at_
  Time last_weights_, last_control_;
  std::vector<ControlledSession> controlled_;
  struct Pace {
    std::uint64_t sent = 0;  ///< packets, at the last decision
    double rate = 0;         ///< packets/s up to then
  };
  std::vector<Pace> paces_;  // by index
  std::vector<PastSession> past_;
};

}  // namespace flitwise
