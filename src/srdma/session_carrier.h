// SPDX-License-Identifier: Apache-2.0
/// What carries the packets of queue pairs over the sessions of their group: which session each
/// packet takes, whether rates and windows let one leave, and what echoes, losses and CNPs say of
/// sessions. Without frames and without time of its own. [SG-5] [SEL-7] [MO-2]
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "flitwise/config.h"
#include "rdma/congestion_window.h"
#include "rdma/dcqcn.h"
#include "rdma/queue_pair.h"
#include "rdma/rate_limiter.h"
#include "srdma/session_balancer.h"

namespace flitwise {

/// What all groups of an end go by.
struct CarrierRules {
  BalancerSetup balancer;
  RateControl control = RateControl::kNone;
  DcqcnParameters dcqcn;              ///< of a queue pair
  CongestionWindowParameters window;  ///< of a group
  unsigned sessions = 1;              ///< that share them
  double rated = 100e9;               ///< bits/s that a session could carry
  bool is_secured = false;
  std::uint32_t packet_bytes = 0;  ///< of a full packet on the wire

  /// Each session has a rate or a window of its own.
  bool is_by_session() const {
    return control == RateControl::kDcqcnSession || control == RateControl::kWindow;
  }
  bool has_window() const {
    return control == RateControl::kWindow || control == RateControl::kWindowGroup;
  }
};

/// What slows down one session, or one queue pair.
struct PacedRate {
  DcqcnRate rate;
  RateLimiter limiter;
};

/// The sessions of a group at one end, which its queue pairs share. [SG-7]
class SessionCarrier {
 public:
  /// `rules` outlives it. salt: of hashes by which sessions are chosen. [SEL-8]
  SessionCarrier(const CarrierRules& rules, SipKey salt, const Random& random, Time now);
  SessionCarrier(const SessionCarrier&) = delete;
  SessionCarrier& operator=(const SessionCarrier&) = delete;

  /// Packets of this end carry the tuple. place: see BalancedSession. REQUIRES: no open session has
  /// the id.
  SessionIndex add(SessionId id, const SessionTuple& tuple, Time now, std::uint32_t place = 0);
  /// No new packet leaves by it; it is closed once nothing of it is on its way. [SG-4]
  void drain(SessionId id) { balancer_.set_eligible(balancer_.find(id), false); }
  /// Of a draining session, once nothing is on its way; false: something is. May be asked again.
  bool close_if_empty(SessionId id);
  /// Whatever is on its way; one that is not open is closed.
  void close(SessionId id);

  /// A packet has come by the session of that id.
  void received(SessionId id, std::uint32_t bytes, Time now);
  /// Weights and probes; once balancer().next_tick() has come. has_queue: packets of the group
  /// wait. The answer: what control of sessions decides. model: an end that has sent no request
  /// decides nothing, for it knows nothing of congestion, and would close what its peer needs.
  ControlDecision tick(Time now, bool has_queue);
  /// A probe is to leave by the session, which is eligible; kNoSessionIndex: none is. [MO-3]
  SessionIndex take_probe();
  /// What the peer's gaps of this group may be old: 1.5 times the largest round trip. Once a
  /// control interval in which requests have left; none: nothing is to be told. [RX-3]
  std::optional<Time> take_gap_timer() { return std::exchange(gap_timer_, std::nullopt); }
  /// One may be to leave.
  bool has_probe() const { return !probes_.empty(); }

  /// The cache: what each packet touches of it,
  void fetch_state() const {
    fetch_between(this, &balancer_);
    balancer_.fetch_state();
  }
  /// and a little later what a packet that comes does, or the next request that leaves.
  void fetch(const RdmaPacket& packet) const;
  void fetch_next_request() const;
  const CarrierRules& rules() const { return rules_; }
  SessionBalancer& balancer() { return balancer_; }
  const SessionBalancer& balancer() const { return balancer_; }

 private:
  friend class CarriedPair;
  bool may_request(Time now, Time& may_go);
  void time_gaps(Time now);
  std::uint32_t room_of(SessionIndex session, Time now, Time& may_go) const;

  const CarrierRules& rules_;
  std::vector<PacedRate> rates_;           // by index; kDcqcnSession
  std::vector<CongestionWindow> windows_;  // by index; kWindowGroup: the first, of all
  double window_ = 0;                      // bytes, of all that are open
  SessionIndex first_tried_ = 0;           // by may_request()
  std::uint32_t begun_ = 0;                // requests that have begun and not left
  bool has_sent_ = false;                  // a request
  bool has_sent_lately_ = false;           // since next_timer_ was set
  Time next_timer_{};                      // when a gap timer is told of next
  std::optional<Time> gap_timer_;          // that is to be told of
  std::vector<SessionIndex> probes_;       // that are to leave, as of the last tick
  SessionBalancer balancer_;
  CongestionWindowParameters one_window_;  // of each of windows_
};

/// A queue pair whose packets sessions carry. Its owner asks for packets, and hands in what comes.
/// Memory: 24 bytes for each PSN of twice the longest distance so far between the oldest without an
/// answer and the newest, in powers of two.
class CarriedPair {
 public:
  /// Both outlive it. The setup of the queue pair has keeps_sent.
  CarriedPair(SessionCarrier& group, QueuePair& pair);

  /// The cache: the same, before SessionCarrier::fetch(), and of what next leaves, in two steps.
  void fetch_rows(const RdmaPacket& packet) const;
  void fetch_next_rows() const;
  void fetch_next() const;

  /// May a request leave, whichever it is? False: may_go becomes the time from which on it may,
  /// where that is known, else never. [SG-9]
  bool may_request(Time now, Time& may_go);
  /// The queue pair has given a request of so many bytes on the wire, which leaves in a while, or
  /// now. REQUIRES: may_request().
  void begin_request(std::uint32_t bytes, Time now);
  /// It leaves: by the session that is returned. REQUIRES: a session may be used.
  SessionIndex send_request(RdmaPacket& packet, std::uint32_t bytes, Time now);
  /// It does not leave.
  void drop_request() { --group_.begun_; }
  /// Likewise of an answer, which is not limited; kNoSessionIndex: no session may be used. [SEL-7]
  SessionIndex send_answer(RdmaPacket& packet, Time now);
  /// A probe by that session, and what it consists of. [MO-3]
  void send_probe(RdmaPacket& packet, SessionIndex session, Time now);

  /// Before the queue pair gets a packet that has an echo.
  void take_echo(const RdmaPacket& packet, Time now);
  /// The packet is a CNP that the queue pair has taken. [CC-2]
  void take_cnp(const RdmaPacket& packet, Time now);
  /// What the queue pair has learned since its oldest packet without an answer was `before`:
  /// what has arrived, and what is lost.
  void note_progress(Psn before, Time now);
  /// The queue pair is in error, or reset: nothing that it has sent is in flight any more.
  void forget(Time now);

 private:
  SessionIndex choose(const RdmaPacket& packet, Time now);
  static void pace(PacedRate& paced, std::uint32_t bytes, Time now);
  PacedRate& rate_of(SessionIndex session) {
    return group_.rates_.empty() ? own_rate_ : group_.rates_[session];
  }
  SessionPacket& place_of(Psn psn) { return monitored_[psn & (monitored_.size() - 1)]; }
  /// Null: no request that is remembered has it, as it is that of an answer.
  SessionPacket* monitored(Psn psn) { return place_of(psn).psn == psn ? &place_of(psn) : nullptr; }
  SessionPacket& monitor(Psn psn);
  void fetch_monitored(Psn psn) const {
    flitwise::fetch(&monitored_[psn & (monitored_.size() - 1)]);
  }
  void put_on(RdmaPacket& packet, SessionIndex session) const {
    packet.session = group_.balancer_.session(session).id;
  }

  SessionCarrier& group_;
  QueuePair& pair_;
  std::vector<SessionPacket> monitored_;  // by PSN, a power of two of them
  QpChoice own_choice_;
  PacedRate own_rate_;  // kDcqcnQp
};

}  // namespace flitwise
