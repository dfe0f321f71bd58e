// SPDX-License-Identifier: Apache-2.0
#include "network/host_connection.h"

#include <fmt/format.h>

namespace flitwise {
namespace {

constexpr std::uint64_t kSpace = std::uint64_t{1} << 62;  // bytes of a host's memory
constexpr unsigned kChoices = 4;  // how often a session is chosen before any that has room will do

std::size_t places_for(std::uint32_t window) {
  std::size_t places = 64;
  while (places < window) {
    places *= 2;
  }
  return 2 * places;  // echoes may come late
}

QueuePairSetup pair_setup(const NetworkHostRules& rules, const HostConnection::Ends& ends) {
  QueuePairSetup setup = rules.pair;
  setup.number = ends.number;
  setup.peer = ends.peer_number;
  setup.first_psn = ends.first;
  setup.peer_first_psn = ends.peer_first;
  return setup;
}

}  // namespace

NetworkHostMemory::NetworkHostMemory() {
  key = *keys.add({0, 0, kSpace, kAllRdmaRights});
}

HostConnection::HostConnection(const NetworkHostRules& rules, NetworkHostMemory& memory,
                               const Ends& ends, SipKey salt, const Random& random)
    : rules_(rules),
      memory_(memory),
      ends_(ends),
      is_by_session_(rules.control == RateControl::kDcqcnSession ||
                     rules.control == RateControl::kWindow),
      completions_(rules.pair.send_depth + 1),
      pair_(pair_setup(rules, ends), memory.keys, completions_, completions_, memory.buffers, true),
      balancer_(rules.balancer, {salt, random}, Time{}),
      monitored_(places_for(rules.pair.window)) {
  for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
    pair_.modify(state);
  }
  if (!is_by_session_) {
    limits_.push_back({DcqcnRate(rules.dcqcn), {}, CongestionWindow(rules.window)});
  }
}

// ---- sessions

void HostConnection::add_session(SessionId id, const SessionTuple& tuple, Time now) {
  BalancedSession session;
  session.id = id;
  session.tuple = tuple;
  session.rated = rules_.gbps * 1e9;
  session.is_secured = rules_.srdma.is_secured;
  const SessionIndex index = balancer_.add(now, session);
  const std::uint32_t hash =
      hash_of({tuple.source, tuple.destination, tuple.source_port, tuple.destination_port},
              rules_.hash, rules_.is_symmetric);
  hashes_.resize(std::max<std::size_t>(hashes_.size(), index + 1U));
  hashes_[index] = hash;
  if (is_by_session_) {
    const unsigned sessions = std::max(1U, rules_.srdma.sessions);
    CongestionWindowParameters window = rules_.window;
    window.initial /= sessions;
    window.most /= sessions;
    window.least = std::min(window.least, window.initial);
    const Limit limit{DcqcnRate(rules_.dcqcn.of_one(sessions)), {}, CongestionWindow(window)};
    if (index < limits_.size()) {
      windows_ -= limits_[index].window.bytes();
      limits_[index] = limit;
    } else {
      limits_.push_back(limit);
    }
    windows_ += limit.window.bytes();
  }
}

void HostConnection::drain_session(SessionId id) {
  const SessionIndex index = balancer_.find(id);
  balancer_.set_eligible(index, false);
}

bool HostConnection::close_if_empty(SessionId id) {
  const SessionIndex index = balancer_.find(id);
  if (balancer_.in_flight(index) > 0) {
    return false;
  }
  balancer_.remove(index);
  return true;
}

// ---- traffic

void HostConnection::post(const Flow& flow) {
  ++posted_;
  queued_.push_back(flow);
  post_queued();
}

void HostConnection::post_queued() {
  while (!queued_.empty()) {
    const Flow& flow = queued_.front();
    SendWork work;
    work.id = flow.id;
    work.opcode = WorkOpcode::kWrite;
    work.is_signaled = true;
    work.local = view_of({stream_, static_cast<std::uint32_t>(flow.bytes), memory_.key});
    work.remote_address = stream_;
    work.remote_key = memory_.key;
    if (pair_.post_send(work) != PostResult::kTaken) {
      return;
    }
    stream_ += flow.bytes;
    queued_.pop_front();
    may_go_ = Time{};
  }
}

// Has the session, or the queue pair, room for one more packet now? Where it has none because of
// its rate, may_go_ says when it has.
bool HostConnection::has_room(SessionIndex session, Time now) {
  const Limit& limit = limit_of(session);
  if (rules_.control == RateControl::kWindow) {
    return limit.window.may_send(
        std::uint64_t{balancer_.in_flight(session)} * rules_.packet_bytes(), rules_.packet_bytes());
  }
  if (!limit.limiter.may_send(now)) {
    may_go_ = std::min(may_go_, limit.limiter.next());
    return false;
  }
  return true;
}

// By the policy, of those that have room; none: no session has.
SessionIndex HostConnection::choose(const RdmaPacket& packet, Time now) {
  PacketKey key{ends_.number, packet.psn, packet.messages, packet.tries};
  for (unsigned attempt = 0; attempt < kChoices; ++attempt, key.resends += 256) {
    const SessionIndex session = balancer_.choose(now, key, own_choice_).session;
    if (session == kNoSession || !is_by_session_ || has_room(session, now)) {
      return session;
    }
  }
  for (SessionIndex session = 0; session < balancer_.sessions(); ++session) {
    if (balancer_.choice().is_usable(session) && has_room(session, now)) {
      return session;
    }
  }
  return kNoSession;
}

// May a request leave, whichever it is? [SG-9]
bool HostConnection::may_request(Time now) {
  may_go_ = Time::never();
  if (balancer_.choice().usable() == 0) {
    return false;
  }
  if (!is_by_session_) {
    return rules_.control == RateControl::kNone || has_room(0, now);
  }
  const std::uint64_t in_flight = balancer_.in_flight();
  if (rules_.control == RateControl::kWindow && in_flight > 0 &&
      static_cast<double>((in_flight + 1) * rules_.packet_bytes()) > windows_) {
    return false;  // what sessions may have together, where that is less than a packet each
  }
  const auto sessions = static_cast<SessionIndex>(limits_.size());
  for (SessionIndex tried = 0; tried < sessions; ++tried) {
    const auto session = static_cast<SessionIndex>((first_tried_ + tried) % sessions);
    if (balancer_.choice().is_usable(session) && has_room(session, now)) {
      first_tried_ = session;
      return true;
    }
  }
  return false;
}

bool HostConnection::next(FabricPacket& packet, Time now) {
  if (send_probe(packet, now)) {
    return true;
  }
  RdmaPacket& fields = packet.fields;
  const bool has_room = may_request(now);
  if (!pair_.next(fields, now, !has_room)) {
    may_go_ = has_room ? Time::never() : may_go_;
    return false;
  }
  info_of(fields.opcode).is_request() ? send_request(packet, now) : send_answer(packet, now);
  may_go_ = Time{};
  return true;
}

void HostConnection::stamp(FabricPacket& packet, SessionIndex session) {
  const BalancedSession& own = balancer_.session(session);
  packet.tuple = own.tuple;
  packet.hash = hashes_[session];
  packet.destination = ends_.peer;
  packet.fields.session = own.id;
  packet.fields.queue_pair = ends_.peer_number;
  packet.bytes = wire_bytes_of(packet.fields) + rules_.extra_bytes;
  packet.ttl = 64;
  packet.kind = FabricPacket::Kind::kTransport;
}

void HostConnection::send_request(FabricPacket& packet, Time now) {
  RdmaPacket& fields = packet.fields;
  SessionIndex session = choose(fields, now);
  if (session == kNoSession) {  // may_request() saw one
    session =
        balancer_
            .choose(now, {ends_.number, fields.psn, fields.messages, fields.tries}, own_choice_)
            .session;
  }
  stamp(packet, session);
  packet.tos = rules_.data_tos;
  SessionPacket& kept = monitored(fields.psn);
  if (fields.tries == 0) {
    kept = SessionPacket{};
  }
  balancer_.assigned(session, packet.bytes);
  balancer_.sent(now, kept, session, packet.bytes);
  pair_.leaves(fields, now);
  Limit& limit = limit_of(session);
  if (rules_.control == RateControl::kDcqcnQp || rules_.control == RateControl::kDcqcnSession) {
    limit.rate.sent(packet.bytes, now);
    limit.limiter.sent(packet.bytes, limit.rate.rate(now), now);
  }
  if (retry_at_ == Time::never()) {
    note_progress(pair_.requester().oldest(), now);
  }
}

// [SEL-7]
void HostConnection::send_answer(FabricPacket& packet, Time now) {
  RdmaPacket& fields = packet.fields;
  const SessionIndex cause = balancer_.find(fields.session);
  const SessionIndex session =
      balancer_.answer(now, cause, {ends_.number, fields.psn, fields.messages, 0}, own_choice_)
          .session;
  stamp(packet, session == kNoSession ? 0 : session);
  packet.tos = rules_.answer_tos;
}

// [MO-3]
bool HostConnection::send_probe(FabricPacket& packet, Time now) {
  if (probes_.empty()) {
    return false;
  }
  const SessionIndex session = probes_.back();
  probes_.pop_back();
  pair_.probe(packet.fields);
  stamp(packet, session);
  packet.tos = rules_.data_tos;
  pair_.leaves(packet.fields, now);
  balancer_.probe_sent(now, session, packet.fields.psn);
  return true;
}

void HostConnection::receive(const FabricPacket& packet, Time now) {
  const RdmaPacket& fields = packet.fields;
  const SessionIndex session = balancer_.find(fields.session);
  if (session != kNoSession) {
    balancer_.received(now, session, packet.bytes);
  }
  may_go_ = Time{};
  const Psn oldest = pair_.requester().oldest();
  if (fields.has_echo) {
    take_echo(fields, balancer_.find(fields.echo.session), now);
  }
  take_effect(fields, pair_.receive(fields, now), now);
  RdmaPacket released;
  RdmaEffect effect;
  while (pair_.release(released, effect, now)) {
    take_effect(released, effect, now);
  }
  note_progress(oldest, now);
  while (messages_ != pair_.responder().messages()) {  // [VB-5]: of 24 bits
    messages_ = (messages_ + 1) & kPsnMask;
    complete_.push_back(incoming_.front());
    incoming_.pop_front();
  }
}

void HostConnection::take_echo(const RdmaPacket& packet, SessionIndex session, Time now) {
  if (session == kNoSession) {
    return;
  }
  const SentPacket* const left = pair_.sent_packet(packet.echo.psn);
  SessionPacket* const kept = left == nullptr ? nullptr : &monitored(packet.echo.psn);
  const Time hold = Time::from_ns(packet.echo.hold_ns);
  if (rules_.control == RateControl::kWindow && left != nullptr && left->times == 1) {
    CongestionWindow& window = limit_of(session).window;
    windows_ -= window.bytes();
    window.echoed(rules_.packet_bytes(), packet.echo.is_marked, now - left->at - hold,
                  balancer_.stats(session).rtt_base, now);
    windows_ += window.bytes();
  }
  balancer_.echo(now, session, packet.echo.psn, kept, hold, packet.echo.is_marked);
}

void HostConnection::take_effect(const RdmaPacket& packet, const RdmaEffect& effect, Time now) {
  if (effect.kind == RdmaEffect::Kind::kSlowDown) {
    const SessionIndex session = balancer_.find(packet.session);
    if (session != kNoSession) {
      balancer_.cnp(session);
    }
    if (!is_by_session_ || session != kNoSession) {
      limit_of(session).rate.notified(now);
    }
  } else if (effect.kind == RdmaEffect::Kind::kPayload) {
    if (effect.view.pieces[0].address != delivered_) {
      disorder_ += effect.view.bytes();
    }
    delivered_ += effect.view.bytes();
  }
}

// What an answer has acknowledged, and what it has shown to be lost.
void HostConnection::note_progress(Psn before, Time now) {
  const RcRequester& requester = pair_.requester();
  for (Psn psn = before; psn != requester.oldest(); psn = psn_plus(psn, 1)) {
    balancer_.delivered(now, monitored(psn));
  }
  LostPacket lost;
  while (pair_.next_loss(lost)) {
    SessionPacket& kept = monitored(lost.psn);
    if (lost.cause == LossCause::kTimeOut) {
      balancer_.timed_out(kept);
    }
    balancer_.lost(now, kept);
  }
  while (const auto completion = completions_.poll()) {
    ++finished_;
  }
  post_queued();
  if (!requester.timer_runs()) {
    retry_at_ = Time::never();
  } else if (retry_at_ == Time::never() || progress_ != requester.progress()) {
    retry_at_ = rules_.retry == Time::never() ? Time::never() : now + rules_.retry;
    progress_ = requester.progress();
  }
}

bool HostConnection::take_complete(Flow& flow) {
  if (complete_.empty()) {
    return false;
  }
  flow = complete_.front();
  complete_.pop_front();
  return true;
}

// ---- time

Time HostConnection::due() const {
  return std::min(std::min(retry_at_, pair_.due()), balancer_.next_tick());
}

ControlDecision HostConnection::expire(Time now) {
  ControlDecision decision;
  const Psn oldest = pair_.requester().oldest();
  if (retry_at_ <= now) {
    retry_at_ = Time::never();
    pair_.time_out(now, now - rules_.retry);
  }
  if (pair_.due() <= now) {
    pair_.expire(now);
  }
  note_progress(oldest, now);
  if (balancer_.next_tick() <= now) {
    decision = balancer_.tick(now);
    const bool has_queue = pair_.requester().waiting() > 0;
    balancer_.for_each_probe(now, has_queue,
                             [this](SessionIndex session) { probes_.push_back(session); });
  }
  may_go_ = Time{};
  return decision;
}

std::string HostConnection::waiting() const {
  if (outstanding() == 0) {
    return "";
  }
  return fmt::format(
      "h{} to h{}: {} flows are not acknowledged, from PSN {:#x} on; {} of {} "
      "sessions may be used\n",
      ends_.own, ends_.peer, outstanding(), pair_.requester().oldest(), balancer_.choice().usable(),
      balancer_.sessions());
}

}  // namespace flitwise
