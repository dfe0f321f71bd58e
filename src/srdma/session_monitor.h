// SPDX-License-Identifier: Apache-2.0
/// The session monitor of a session group: what packets, echoes, losses and silence tell of each
/// session. [6.2] [MO-1] to [MO-4]
#pragma once

#include <cstdint>
#include <vector>

#include "common/fetch.h"
#include "flitwise/time.h"
#include "srdma/session_stats.h"

namespace flitwise {

struct MonitorSetup {
  bool has_echo = true;  ///< both ends have agreed on echoes [MO-1]
  Time base_window = Time::from_us(5'000);
  Time stale_time = Time::from_us(100);   ///< without a sample: probe [MO-3]
  Time rto = Time::from_ns(524'288);      ///< without progress: w = c = 1 [MO-3] [LR-3]
  unsigned loss_run = 4;                  ///< losses with no echo between: likewise; at most 255
  Time keepalive = Time::from_us(1'000);  ///< with nothing received: probe; 0: none [MO-4]
  unsigned keepalive_misses = 3;          ///< probes: not alive; at most 255
};

/// The owner of a window says what it does with each packet, and hands in what it keeps of it.
/// Everything but open() and check() costs the same with any number of sessions, and allocates
/// nothing. An index has to be open, but for what becomes of packets that had been sent by it.
class SessionMonitor {
 public:
  /// `setup` outlives it.
  explicit SessionMonitor(const MonitorSetup& setup) : setup_(setup) {}

  /// Room for so many sessions.
  void reserve(std::size_t sessions) {
    stats_.reserve(sessions);
    in_flight_.reserve(sessions);
  }
  /// The lowest index that is free. rated: bits/s that the session could carry.
  SessionIndex open(Time now, double rated);
  SessionIndex free_place() const;  ///< that open() takes
  /// The index is free once nothing of it is in flight.
  void close(SessionIndex session) {
    stats_[session].is_open = stats_[session].is_eligible = false;
  }
  void set_eligible(SessionIndex session, bool is_eligible) {
    stats_[session].is_eligible = is_eligible;
  }

  // What becomes of a packet, in this order. A resend goes on with assigned() and sent().
  /// It will leave by the session, and waits till then.
  void assigned(SessionIndex session, std::uint32_t bytes) {
    stats_[session].interval.offered_bytes += bytes;
    stats_[session].local_queue += bytes;
  }
  /// It leaves. One that was in flight elsewhere is charged to that session as a loss. [MO-2]
  void sent(Time now, SessionPacket& packet, SessionIndex session, std::uint32_t bytes);
  /// A NAK or SACK says that it is lost. False: it is known already, to be lost or to have arrived.
  /// [MO-2]
  bool lost(Time now, SessionPacket& packet);
  /// The cumulative PSN has passed it. True: see echo().
  bool delivered(Time now, SessionPacket& packet);
  /// It will leave again, whatever has become of it: it is on its way no more. No loss. [LR-1]
  void recall(Time now, SessionPacket& packet);
  /// It is given up: its queue pair is in error, or reset.
  void forget(Time now, SessionPacket& packet);

  // What comes in.
  /// An ACK says that `psn` arrived by the session, and for how long the receiver held it. packet:
  /// what was kept of the PSN, also behind the window; null: nothing any more. True: the session
  /// had timed out, and has not any more. [MO-1] [MO-2]
  bool echo(Time now, SessionIndex session, Psn psn, SessionPacket* packet, Time hold, bool ce);
  /// A valid packet came by the session. True: it was not alive. [MO-4]
  bool received(Time now, SessionIndex session, std::uint32_t bytes);
  void cnp(SessionIndex session) { ++stats_[session].cnps; }
  /// The retransmission timer of a packet has run out. [LR-5]
  void timed_out(SessionIndex session) { stats_[session].is_timed_out = true; }

  // What time alone tells.
  /// Looks for sessions without progress and probes without an answer. O(sessions). True: a session
  /// has timed out, or is not alive any more. [MO-3] [MO-4]
  bool check(Time now);
  /// May a probe leave by it now? has_queue: the group has packets that wait. [MO-3] [MO-4]
  bool wants_probe(Time now, SessionIndex session, bool has_queue) const;
  /// One has left, with the PSN last acknowledged of some queue pair.
  void probe_sent(Time now, SessionIndex session, Psn psn);
  /// Intervals are complete up to now: weights may be updated by them.
  void end_interval(Time now);
  /// They begin anew.
  void begin_interval();

  /// The cache: a packet will leave by it soon, come by it, or be echoed.
  void fetch_for_sent(SessionIndex session) const {
    flitwise::fetch(&stats_[session], SessionStats::kSent);
  }
  void fetch_for_received(SessionIndex session) const {
    flitwise::fetch(&stats_[session]);
    flitwise::fetch(&stats_[session].received_packets);
  }
  void fetch_for_echo(SessionIndex session) const {
    flitwise::fetch(&stats_[session], sizeof(SessionStats));
  }
  void fetch_all() const {
    flitwise::fetch(in_flight_.data(), in_flight_.size() * sizeof in_flight_[0]);
  }
  /// Of all indices, open or not.
  const std::vector<SessionStats>& stats() const { return stats_; }
  /// Packets of each index that are neither acknowledged nor declared lost.
  const std::vector<std::uint32_t>& in_flight() const { return in_flight_; }
  /// The same of all of them.
  std::uint32_t all_in_flight() const { return all_in_flight_; }

 private:
  void land(Time now, SessionPacket& packet);
  void credit(SessionIndex session, SessionPacket& packet);
  void charge(SessionPacket& packet);
  bool revive(SessionStats& own);
  void sample(Time now, SessionStats& own, Time rtt);
  /// How long an answer to a probe is waited for.
  Time patience() const;

  const MonitorSetup& setup_;
  std::vector<SessionStats> stats_;
  std::uint32_t all_in_flight_ = 0;
  std::vector<std::uint32_t> in_flight_;  // apart: all of it is read at once
  Time last_sent_ = {-1};                 ///< by any of them; below 0: never
};

}  // namespace flitwise
