// SPDX-License-Identifier: Apache-2.0
#include "srdma/session_carrier.h"

#include <algorithm>

namespace flitwise {
namespace {

constexpr unsigned kChoices = 4;  // how often a session is chosen before any that has room will do

constexpr std::size_t kFirstPlaces = 32;

}  // namespace

// ---- sessions

SessionCarrier::SessionCarrier(const CarrierRules& rules, SipKey salt, const Random& random,
                               Time now)
    : rules_(rules), balancer_(rules.balancer, {salt, random}, now), one_window_(rules.window) {
  const unsigned sharers = std::max(1U, rules.sessions);
  one_window_.initial /= sharers;
  one_window_.most /= sharers;
  one_window_.least = std::min(one_window_.least, one_window_.initial);
  balancer_.reserve(sharers);
  rates_.reserve(rules.control == RateControl::kDcqcnSession ? sharers : 0);
  windows_.reserve(rules.control == RateControl::kWindow ? sharers : 0);
}

SessionIndex SessionCarrier::add(SessionId id, const SessionTuple& tuple, Time now,
                                 std::uint32_t place) {
  BalancedSession session;
  session.id = id;
  session.tuple = tuple;
  session.rated = rules_.rated;
  session.is_secured = rules_.is_secured;
  session.place = place;
  const SessionIndex index = balancer_.add(now, session);
  if (rules_.control == RateControl::kDcqcnSession) {
    const PacedRate rate{DcqcnRate(rules_.dcqcn.of_one(std::max(1U, rules_.sessions))), {}};
    index < rates_.size() ? void(rates_[index] = rate) : rates_.push_back(rate);
  } else if (rules_.control == RateControl::kWindow) {
    const CongestionWindow window(one_window_);
    index < windows_.size() ? void(windows_[index] = window) : windows_.push_back(window);
    window_ += window.bytes();
  } else if (rules_.control == RateControl::kWindowGroup && windows_.empty()) {
    windows_.emplace_back(rules_.window);
    window_ = windows_[0].bytes();
  }
  return index;
}

bool SessionCarrier::close_if_empty(SessionId id) {
  const SessionIndex index = balancer_.find(id);
  if (index == kNoSessionIndex) {
    return true;
  }
  if (balancer_.in_flight(index) > 0) {
    return false;
  }
  close(id);
  return true;
}

void SessionCarrier::close(SessionId id) {
  const SessionIndex index = balancer_.find(id);
  if (index == kNoSessionIndex) {
    return;
  }
  if (rules_.control == RateControl::kWindow) {
    window_ -= windows_[index].bytes();
  }
  balancer_.remove(index);
}

void SessionCarrier::received(SessionId id, std::uint32_t bytes, Time now) {
  const SessionIndex session = balancer_.find(id);
  if (session != kNoSessionIndex) {
    balancer_.received(now, session, bytes);
  }
}

ControlDecision SessionCarrier::tick(Time now, bool has_queue) {
  const ControlDecision decision = balancer_.tick(now, has_sent_);
  probes_.clear();
  balancer_.for_each_probe(now, has_queue,
                           [this](SessionIndex session) { probes_.push_back(session); });
  if (now >= next_timer_) {
    time_gaps(now);
  }
  return decision;
}

// model: with the first update of weights behind a control interval.
void SessionCarrier::time_gaps(Time now) {
  next_timer_ = now + rules_.balancer.control.interval;
  const Time rtt = balancer_.largest_rtt();
  if (std::exchange(has_sent_lately_, false) && rtt > Time{}) {
    gap_timer_ = Time{rtt.fs * 3 / 2};
  }
}

SessionIndex SessionCarrier::take_probe() {
  while (!probes_.empty()) {
    const SessionIndex session = probes_.back();
    probes_.pop_back();
    if (balancer_.stats(session).is_eligible) {
      return session;
    }
  }
  return kNoSessionIndex;
}

// How many packets may leave by the session now. Where it is none because of its rate, may_go is no
// later than when one may.
std::uint32_t SessionCarrier::room_of(SessionIndex session, Time now, Time& may_go) const {
  if (rules_.control == RateControl::kWindow) {
    const std::uint32_t in_flight = balancer_.in_flight(session);
    const CongestionWindow& window = windows_[session];
    if (!window.may_send(std::uint64_t{in_flight} * rules_.packet_bytes, rules_.packet_bytes)) {
      return 0;
    }
    const auto whole = static_cast<std::uint32_t>(window.bytes() / rules_.packet_bytes);
    return whole > in_flight ? whole - in_flight : 1;
  }
  const RateLimiter& limiter = rates_[session].limiter;
  if (!limiter.may_send(now)) {
    may_go = std::min(may_go, limiter.next());
    return 0;
  }
  return 1;
}

bool SessionCarrier::may_request(Time now, Time& may_go) {
  const std::uint64_t in_flight = balancer_.in_flight() + begun_;
  if (rules_.has_window() && in_flight > 0 &&
      static_cast<double>((in_flight + 1) * rules_.packet_bytes) > window_) {
    return false;  // of kWindow: where sessions may have together less than a packet each
  }
  if (!rules_.is_by_session()) {
    return true;
  }
  const SessionIndex sessions = balancer_.sessions();
  std::uint32_t room = 0;
  for (SessionIndex tried = 0; tried < sessions; ++tried) {
    const auto session = static_cast<SessionIndex>((first_tried_ + tried) % sessions);
    room += balancer_.choice().is_usable(session) ? room_of(session, now, may_go) : 0;
    if (room > begun_) {
      first_tried_ = session;
      return true;
    }
  }
  return false;
}

// ---- the cache

void SessionCarrier::fetch(const RdmaPacket& packet) const {
  const SessionIndex session = balancer_.find(packet.session);
  if (session == kNoSessionIndex) {
    return;
  }
  if (!packet.has_echo) {
    balancer_.fetch_for_received(session);
    return;
  }
  balancer_.fetch_for_echo(session);
  if (!windows_.empty()) {
    flitwise::fetch(&windows_[session]);
  }
}

void SessionCarrier::fetch_next_request() const {
  const SessionIndex session = balancer_.choice().in_turn();
  if (session == kNoSessionIndex) {
    return;
  }
  balancer_.fetch_for_sent(session);
  if (!windows_.empty()) {  // one with room is looked for from the first of these on
    flitwise::fetch(&windows_[first_tried_], 2 * sizeof(CongestionWindow));
    flitwise::fetch(&windows_[session]);
  }
}

void CarriedPair::fetch_rows(const RdmaPacket& packet) const {
  group_.balancer_.fetch_rows(packet.session);
  if (packet.has_echo) {
    fetch_monitored(packet.echo.psn);
  }
}

void CarriedPair::fetch_next_rows() const {
  group_.balancer_.fetch_next_rows();
  fetch_monitored(pair_.requester().sent_end());
}

void CarriedPair::fetch_next() const {
  if (!pair_.has_answer()) {
    group_.fetch_next_request();
    return;
  }
  const SessionIndex session = group_.balancer_.find(pair_.responder().next_session());
  if (session != kNoSessionIndex) {
    group_.balancer_.fetch_for_answer(session);
  }
}

// ---- queue pairs

CarriedPair::CarriedPair(SessionCarrier& group, QueuePair& pair)
    : group_(group),
      pair_(pair),
      monitored_(kFirstPlaces),
      own_rate_{DcqcnRate(group.rules().dcqcn), {}} {}

bool CarriedPair::may_request(Time now, Time& may_go) {
  may_go = Time::never();
  if (group_.balancer_.choice().usable() == 0) {
    return false;
  }
  if (group_.rules_.is_by_session() || group_.rules_.has_window()) {
    return group_.may_request(now, may_go);
  }
  if (group_.rules_.control == RateControl::kNone || own_rate_.limiter.may_send(now)) {
    return true;
  }
  may_go = own_rate_.limiter.next();
  return false;
}

// By the policy, of those that have room; where none has any more, by the policy alone.
SessionIndex CarriedPair::choose(const RdmaPacket& packet, Time now) {
  SessionBalancer& balancer = group_.balancer_;
  const PacketKey key{pair_.setup().number, packet.psn, packet.messages, packet.tries};
  const bool is_by_session = group_.rules_.is_by_session();
  Time may_go = Time::never();
  PacketKey tried = key;
  for (unsigned attempt = 0; attempt < kChoices; ++attempt, tried.resends += 256) {
    const SessionIndex session = balancer.choose(now, tried, own_choice_).session;
    if (session == kNoSessionIndex || !is_by_session || group_.room_of(session, now, may_go) > 0) {
      return session;
    }
  }
  for (SessionIndex session = 0; session < balancer.sessions(); ++session) {
    if (balancer.choice().is_usable(session) && group_.room_of(session, now, may_go) > 0) {
      return session;
    }
  }
  return balancer.choose(now, key, own_choice_).session;
}

void CarriedPair::begin_request(std::uint32_t bytes, Time now) {
  ++group_.begun_;
  if (group_.rules_.control == RateControl::kDcqcnQp) {
    pace(own_rate_, bytes, now);
  }
}

SessionIndex CarriedPair::send_request(RdmaPacket& packet, std::uint32_t bytes, Time now) {
  --group_.begun_;
  group_.has_sent_ = group_.has_sent_lately_ = true;
  const SessionIndex session = choose(packet, now);
  put_on(packet, session);
  SessionPacket& kept = monitor(packet.psn);
  if (packet.tries == 0) {
    kept = SessionPacket{};
    kept.psn = packet.psn;
  }
  group_.balancer_.assigned(session, bytes);
  group_.balancer_.sent(now, kept, session, bytes);
  pair_.leaves(packet, now);
  if (group_.rules_.control == RateControl::kDcqcnSession) {
    pace(group_.rates_[session], bytes, now);
  }
  return session;
}

// Requests that have no answer have places of their own, and so have as many that are older, for
// echoes which come late.
SessionPacket& CarriedPair::monitor(Psn psn) {
  const auto distance =
      static_cast<std::size_t>(std::max(psn_distance(psn, pair_.requester().oldest()), 0));
  std::size_t size = monitored_.size();
  while (size <= 2 * (distance + 1)) {
    size *= 2;
  }
  if (size != monitored_.size()) {
    std::vector<SessionPacket> old(size);
    old.swap(monitored_);
    for (const SessionPacket& one : old) {
      if (one.session != kNoSessionIndex) {
        place_of(one.psn) = one;
      }
    }
  }
  SessionPacket& place = place_of(psn);
  if (place.psn != psn) {
    place = SessionPacket{};
    place.psn = psn;
  }
  return place;
}

void CarriedPair::pace(PacedRate& paced, std::uint32_t bytes, Time now) {
  paced.rate.sent(bytes, now);
  paced.limiter.sent(bytes, paced.rate.rate(now), now);
}

SessionIndex CarriedPair::send_answer(RdmaPacket& packet, Time now) {
  SessionBalancer& balancer = group_.balancer_;
  const SessionIndex cause = balancer.find(packet.session);
  const SessionIndex session =
      balancer
          .answer(now, cause, {pair_.setup().number, packet.psn, packet.messages, 0}, own_choice_)
          .session;
  if (session != kNoSessionIndex) {
    put_on(packet, session);
  }
  return session;
}

void CarriedPair::send_probe(RdmaPacket& packet, SessionIndex session, Time now) {
  pair_.probe(packet);
  put_on(packet, session);
  pair_.leaves(packet, now);
  group_.balancer_.probe_sent(now, session, packet.psn);
}

void CarriedPair::take_echo(const RdmaPacket& packet, Time now) {
  const AckEcho& echo = packet.echo;
  SessionBalancer& balancer = group_.balancer_;
  const SessionIndex session = balancer.find(echo.session);
  if (session == kNoSessionIndex) {
    return;
  }
  const SentPacket* const left = pair_.sent_packet(echo.psn);
  SessionPacket* const kept = left == nullptr ? nullptr : monitored(echo.psn);
  const Time hold = Time::from_ns(echo.hold_ns);
  if (group_.rules_.has_window() && left != nullptr && left->times == 1) {
    CongestionWindow& window = group_.windows_[group_.rules_.is_by_session() ? session : 0];
    group_.window_ -= window.bytes();
    window.echoed(group_.rules_.packet_bytes, echo.is_marked, now - left->at - hold,
                  balancer.stats(session).rtt_base, now);
    group_.window_ += window.bytes();
  }
  balancer.echo(now, session, echo.psn, kept, hold, echo.is_marked);
}

void CarriedPair::take_cnp(const RdmaPacket& packet, Time now) {
  const SessionIndex session = group_.balancer_.find(packet.session);
  if (session != kNoSessionIndex) {
    group_.balancer_.cnp(session);
  }
  if (group_.rates_.empty() || session != kNoSessionIndex) {
    rate_of(session).rate.notified(now);
  }
}

void CarriedPair::note_progress(Psn before, Time now) {
  for (Psn psn = before; psn != pair_.requester().oldest(); psn = psn_plus(psn, 1)) {
    if (SessionPacket* const kept = monitored(psn)) {
      group_.balancer_.delivered(now, *kept);
    }
  }
  LostPacket lost;
  while (pair_.next_loss(lost)) {
    SessionPacket* const kept = monitored(lost.psn);
    if (kept != nullptr && lost.cause == LossCause::kTimeOut) {
      group_.balancer_.timed_out(*kept);
    }
    if (kept != nullptr) {
      group_.balancer_.lost(now, *kept);
    }
  }
  // Go-back-N sends all from there on again, and what is on its way counts for nothing. [LR-1]
  const RcRequester& requester = pair_.requester();
  for (Psn psn = requester.next_psn(); psn_distance(psn, requester.sent_end()) < 0;
       psn = psn_plus(psn, 1)) {
    if (SessionPacket* const kept = monitored(psn)) {
      group_.balancer_.recall(now, *kept);
    }
  }
}

void CarriedPair::forget(Time now) {
  for (SessionPacket& kept : monitored_) {
    group_.balancer_.forget(now, kept);
  }
}

}  // namespace flitwise
