// SPDX-License-Identifier: Apache-2.0
#include "srdma/session_monitor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "flitwise/error.h"

namespace flitwise {
namespace {

constexpr std::int64_t kRttGain = 8;  // model: as TCP takes its smoothed RTT

void count_up(std::uint8_t& count) {
  if (count < std::numeric_limits<std::uint8_t>::max()) {
    ++count;
  }
}

}  // namespace

SessionIndex SessionMonitor::free_place() const {
  SessionIndex session = 0;
  while (session < stats_.size() && (stats_[session].is_open || in_flight_[session] > 0)) {
    ++session;
  }
  return session;
}

SessionIndex SessionMonitor::open(Time now, double rated) {
  const SessionIndex session = free_place();
  if (session == stats_.size()) {
    stats_.emplace_back();
    in_flight_.push_back(0);
  }
  SessionStats& own = stats_[session] = {};
  own.is_open = true;
  own.rated = rated;
  own.opened = own.last_sample = own.last_received = own.last_probe = now;
  return session;
}

void SessionMonitor::sent(Time now, SessionPacket& packet, SessionIndex session,
                          std::uint32_t bytes) {
  if (packet.session != kNoSessionIndex) {
    packet.is_again = true;
    if (packet.is_in_flight) {
      land(now, packet);
      if (packet.credited_to == kNoSessionIndex) {
        charge(packet);
      }
    }
  }
  SessionStats& own = stats_[session];
  FLITWISE_CHECK(own.local_queue >= bytes,
                 "a packet is sent by a session that it is not assigned to");
  own.local_queue -= bytes;
  if (own.sent_packets > 0) {
    own.idle_gap = now - own.last_sent;
  }
  own.last_sent = last_sent_ = now;
  ++own.sent_packets;
  own.sent_bytes += bytes;
  ++all_in_flight_;
  if (in_flight_[session]++ == 0) {
    own.busy_since = own.last_progress = now;
  }
  packet.sent = now;
  packet.bytes = bytes;
  packet.session = session;
  packet.is_in_flight = true;
  packet.is_echoed = false;
}

// It is in flight no more.
void SessionMonitor::land(Time now, SessionPacket& packet) {
  packet.is_in_flight = false;
  --all_in_flight_;
  if (--in_flight_[packet.session] == 0) {
    SessionStats& own = stats_[packet.session];
    own.interval.busy += now - own.busy_since;
  }
}

void SessionMonitor::credit(SessionIndex session, SessionPacket& packet) {
  packet.credited_to = session;
  SessionStats& own = stats_[session];
  ++own.delivered_packets;
  own.delivered_bytes += packet.bytes;
  own.interval.achieved_bytes += packet.bytes;
}

void SessionMonitor::charge(SessionPacket& packet) {
  packet.lost_on = packet.session;
  ++stats_[packet.session].losses;
}

bool SessionMonitor::lost(Time now, SessionPacket& packet) {
  if (!packet.is_in_flight || packet.credited_to != kNoSessionIndex) {
    return false;
  }
  land(now, packet);
  charge(packet);
  SessionStats& own = stats_[packet.session];
  count_up(own.loss_run);
  own.is_timed_out = own.is_timed_out || own.loss_run >= setup_.loss_run;
  return true;
}

// Something came through by the session.
bool SessionMonitor::revive(SessionStats& own) {
  const bool was_out = own.is_timed_out || !own.is_alive;
  own.loss_run = own.probe_misses = 0;
  own.is_timed_out = false;
  own.is_alive = true;
  own.unanswered_since = Time::never();
  return was_out;
}

bool SessionMonitor::delivered(Time now, SessionPacket& packet) {
  if (packet.session == kNoSessionIndex) {
    return false;
  }
  SessionStats& own = stats_[packet.session];
  const bool was_lost = !packet.is_in_flight && packet.lost_on == packet.session;
  if (packet.is_in_flight) {
    land(now, packet);
  }
  if (packet.credited_to == kNoSessionIndex) {
    if (was_lost) {  // declared so, and not sent again: it had arrived after all
      --own.losses;
      packet.lost_on = kNoSessionIndex;
    }
    credit(packet.session, packet);
  }
  own.last_progress = now;
  return !setup_.has_echo && revive(own);
}

void SessionMonitor::recall(Time now, SessionPacket& packet) {
  if (packet.is_in_flight) {
    land(now, packet);
  }
}

void SessionMonitor::forget(Time now, SessionPacket& packet) {
  if (packet.is_in_flight) {
    land(now, packet);
  }
  packet = {};
}

bool SessionMonitor::echo(Time now, SessionIndex session, Psn psn, SessionPacket* packet, Time hold,
                          bool ce) {
  SessionStats& own = stats_[session];
  ++own.echoes;
  ++own.interval.echoes;
  own.ce_echoes += ce ? 1 : 0;
  own.interval.ce_echoes += ce ? 1 : 0;
  own.last_progress = now;
  const bool is_first =  // may be that of the packet
      packet != nullptr && packet->session == session && !std::exchange(packet->is_echoed, true);
  if (own.is_probing && own.probe_psn == psn) {
    own.is_probing = false;
    ++own.interval.probe_answers;
    if (!is_first) {  // else nobody knows whether it is that of the packet, which is late
      sample(now, own, now - own.last_probe - hold);
    }
  } else if (packet != nullptr && packet->session == session) {
    if (is_first && !packet->is_again) {
      sample(now, own, now - packet->sent - hold);
    }
    if (packet->is_in_flight) {
      land(now, *packet);
    }
    if (packet->credited_to == kNoSessionIndex) {
      credit(session, *packet);
    }
  } else if (packet != nullptr && packet->lost_on == session) {
    // The try before arrived after all. The one that followed is in flight until PSNs pass it.
    --own.losses;
    packet->lost_on = kNoSessionIndex;
    if (packet->credited_to != kNoSessionIndex) {
      SessionStats& other = stats_[packet->credited_to];
      --other.delivered_packets;
      other.delivered_bytes -= packet->bytes;
      other.interval.achieved_bytes -= packet->bytes;
    }
    credit(session, *packet);
  }
  return revive(own);
}

// A hold time that is longer than the round trip is a lie.
void SessionMonitor::sample(Time now, SessionStats& own, Time rtt) {
  if (rtt <= Time{}) {
    return;
  }
  const Time half = {setup_.base_window.fs / 2};
  if (own.rtt_samples == 0) {
    own.rtt_ewma = own.rtt_min = rtt;
  }
  if (own.rtt_samples == 0 || now >= own.base_turn + half) {
    own.base_old = Time::never();
    own.base_young = rtt;
    own.base_turn = now + half;
  } else if (now >= own.base_turn) {
    own.base_old = own.base_young;
    own.base_young = rtt;
    own.base_turn = now + half;
  }
  own.base_young = std::min(own.base_young, rtt);
  own.rtt_base = std::min(own.base_old, own.base_young);
  own.rtt_ewma.fs += (rtt.fs - own.rtt_ewma.fs) / kRttGain;
  own.rtt_min = std::min(own.rtt_min, rtt);
  own.rtt_max = std::max(own.rtt_max, rtt);
  own.rtt_sum += rtt;
  ++own.rtt_samples;
  ++own.interval.rtt_samples;
  own.last_sample = now;
}

bool SessionMonitor::received(Time now, SessionIndex session, std::uint32_t bytes) {
  SessionStats& own = stats_[session];
  ++own.received_packets;
  own.received_bytes += bytes;
  own.last_received = now;
  own.probe_misses = 0;
  if (!setup_.has_echo) {
    own.is_probing = false;
    own.unanswered_since = Time::never();
  }
  const bool was_dead = !own.is_alive;
  own.is_alive = true;
  return was_dead;
}

Time SessionMonitor::patience() const {
  return setup_.keepalive > Time{} ? std::min(setup_.rto, setup_.keepalive) : setup_.rto;
}

bool SessionMonitor::check(Time now) {
  bool has_changed = false;
  for (SessionIndex session = 0; session < stats_.size(); ++session) {
    SessionStats& own = stats_[session];
    if (!own.is_open) {
      continue;
    }
    const bool was_timed_out = own.is_timed_out, was_alive = own.is_alive;
    if ((in_flight_[session] > 0 && now - own.last_progress > setup_.rto) ||
        (own.unanswered_since < now && now - own.unanswered_since > setup_.rto)) {
      own.is_timed_out = true;
    }
    if (own.is_probing && now - own.last_probe > patience()) {
      own.is_probing = false;
      count_up(own.probe_misses);
      own.is_alive = own.is_alive && own.probe_misses < setup_.keepalive_misses;
    }
    has_changed = has_changed || was_timed_out != own.is_timed_out || was_alive != own.is_alive;
  }
  return has_changed;
}

bool SessionMonitor::wants_probe(Time now, SessionIndex session, bool has_queue) const {
  const SessionStats& own = stats_[session];
  if (!own.is_eligible || own.is_probing) {
    return false;
  }
  const bool has_traffic =
      has_queue || (last_sent_ >= Time{} && now - last_sent_ <= setup_.stale_time);
  const bool is_stale = setup_.has_echo && has_traffic && in_flight_[session] == 0 &&
                        own.local_queue == 0 &&
                        now - std::max(own.last_sample, own.last_probe) >= setup_.stale_time;
  const bool is_silent = setup_.keepalive > Time{} &&
                         now - std::max(own.last_received, own.last_probe) >= setup_.keepalive;
  return is_stale || is_silent;
}

void SessionMonitor::probe_sent(Time now, SessionIndex session, Psn psn) {
  SessionStats& own = stats_[session];
  ++own.probes;
  own.is_probing = true;
  own.probe_psn = psn;
  own.last_probe = now;
  own.unanswered_since = std::min(own.unanswered_since, now);
}

void SessionMonitor::end_interval(Time now) {
  for (SessionIndex session = 0; session < stats_.size(); ++session) {
    if (in_flight_[session] > 0) {
      SessionStats& own = stats_[session];
      own.interval.busy += now - own.busy_since;
      own.busy_since = now;
    }
  }
}

void SessionMonitor::begin_interval() {
  for (SessionStats& own : stats_) {
    own.interval = {};
    own.interval.offered_bytes = static_cast<std::int64_t>(own.local_queue);
  }
}

}  // namespace flitwise
