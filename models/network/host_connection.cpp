// SPDX-License-Identifier: Apache-2.0
#include "network/host_connection.h"

#include <fmt/format.h>

#include "common/ranges.h"
#include "rdma/rdma_frame.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kSpace = std::uint64_t{1} << 62;  // bytes of a host's memory
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
      completions_(rules.pair.send_depth + 1),
      pair_(pair_setup(rules, ends), memory.keys, completions_, completions_, memory.buffers, true),
      first_(*this),
      own_carrier_(std::in_place, rules.carrier, salt, random, Time{}),
      carrier_(*own_carrier_),
      carried_(carrier_, pair_) {
  start();
}

HostConnection::HostConnection(const NetworkHostRules& rules, const Ends& ends,
                               HostConnection& first)
    : rules_(rules),
      memory_(first.memory_),
      ends_(ends),
      completions_(rules.pair.send_depth + 1),
      pair_(pair_setup(rules, ends), memory_.keys, completions_, completions_, memory_.buffers,
            true),
      first_(first),
      carrier_(first.carrier_),
      carried_(carrier_, pair_) {
  first.others_.push_back(this);
  start();
}

void HostConnection::start() {
  for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
    pair_.modify(state);
  }
}

// ---- sessions

void HostConnection::add_session(SessionId id, const SessionTuple& tuple, Time now) {
  carrier_.add(id, tuple, now,
               hash_of({tuple.source, tuple.destination, tuple.source_port, tuple.destination_port},
                       rules_.hash, rules_.is_symmetric));
}

void HostConnection::set_session(SessionId id, bool is_eligible, EpochNumber epoch) {
  const SessionIndex index = balancer().find(id);
  if (index == kNoSessionIndex) {
    return;
  }
  if (balancer().stats(index).is_eligible != is_eligible) {
    balancer().set_eligible(index, is_eligible);
    may_go_ = Time{};
  }
  balancer().set_epoch(index, epoch);
}

void HostConnection::resend(SessionId id, Time now) {
  pair_.resend(id);
  note_progress(pair_.requester().oldest(), now);
  may_go_ = Time{};
  for (HostConnection* const one : others_) {
    one->resend(id, now);
  }
}

void HostConnection::set_gap_times(std::optional<Time> own, std::optional<Time> of_peer) {
  if (own) {
    pair_.set_own_gap_time(*own);
  }
  if (of_peer) {
    pair_.set_gap_time(*of_peer);
  }
  for (HostConnection* const one : others_) {
    one->set_gap_times(own, of_peer);
  }
}

void HostConnection::give_up(const std::string& why, Time now) {
  failure_ = why;
  pair_.give_up();
  note_progress(pair_.requester().oldest(), now);
  for (HostConnection* const one : others_) {
    one->give_up(why, now);
  }
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

bool HostConnection::next(FabricPacket& packet, Time now) {
  RdmaPacket& fields = packet.fields;
  held_ = Held::kNot;
  if (balancer().choice().usable() == 0) {
    may_go_ = Time::never();  // answers wait as well [SG-9]
    held_ = pair_.requester().is_ready() ? Held::kBySessions : Held::kNot;
    return false;
  }
  const SessionIndex probed = carrier_.take_probe();
  if (probed != kNoSessionIndex) {
    carried_.send_probe(fields, probed, now);
    stamp(packet, probed);
    packet.tos = rules_.data_tos;
    return true;
  }
  const bool has_room = pair_.has_answer() || carried_.may_request(now, may_go_);
  if (!pair_.next(fields, now, !has_room)) {
    may_go_ = has_room ? Time::never() : may_go_;
    const RcRequester& requester = pair_.requester();
    if (requester.waits_for() == RequesterWait::kWindow) {
      held_ = Held::kByWindow;
    } else if (!has_room && requester.is_ready()) {
      held_ = Held::kBySessions;
    }
    return false;
  }
  info_of(fields.opcode).is_request() ? send_request(packet, now) : send_answer(packet, now);
  may_go_ = Time{};
  return true;
}

bool HostConnection::has_to_wait() const {
  return may_go_ == Time::never() && pair_.requester().waiting() > 0;
}

bool HostConnection::may_go_on() {
  const bool has_waited = has_to_wait();
  may_go_ = has_waited ? Time{} : may_go_;
  return has_waited;
}

void HostConnection::stamp(FabricPacket& packet, SessionIndex session) {
  const BalancedSession& own = balancer().session(session);
  packet.tuple = own.tuple;
  packet.hash = own.place;
  packet.epoch = own.epoch;
  packet.destination = ends_.peer;
  packet.fields.session = own.id;
  packet.fields.queue_pair = ends_.peer_number;
  packet.bytes = wire_bytes_of(packet.fields) + rules_.extra_bytes;
  packet.ttl = 64;
  packet.kind = FabricPacket::Kind::kTransport;
}

void HostConnection::send_request(FabricPacket& packet, Time now) {
  const std::uint32_t bytes = wire_bytes_of(packet.fields) + rules_.extra_bytes;
  carried_.begin_request(bytes, now);
  stamp(packet, carried_.send_request(packet.fields, bytes, now));
  packet.tos = rules_.data_tos;
  if (retry_at_ == Time::never()) {
    note_progress(pair_.requester().oldest(), now);
  }
}

void HostConnection::send_answer(FabricPacket& packet, Time now) {
  const SessionIndex session = carried_.send_answer(packet.fields, now);
  stamp(packet, session == kNoSessionIndex ? 0 : session);
  packet.tos = rules_.answer_tos;
}

void HostConnection::receive(const FabricPacket& packet, Time now) {
  const RdmaPacket& fields = packet.fields;
  carrier_.received(fields.session, packet.bytes, now);
  may_go_ = Time{};
  const Psn oldest = pair_.requester().oldest();
  if (fields.has_echo) {
    carried_.take_echo(fields, now);
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
    ++complete_;
  }
}

void HostConnection::take_effect(const RdmaPacket& packet, const RdmaEffect& effect, Time now) {
  if (effect.kind == RdmaEffect::Kind::kSlowDown) {
    carried_.take_cnp(packet, now);
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
  carried_.note_progress(before, now);
  const std::uint64_t finished = finished_;
  while (const auto completion = completions_.poll()) {
    ++finished_;
  }
  if (finished_ != finished) {
    post_queued();
  }
  if (!requester.timer_runs()) {
    retry_at_ = Time::never();
  } else if (retry_at_ == Time::never() || progress_ != requester.progress()) {
    retry_at_ = now + std::min(rules_.retry, Time::never() - now);
    progress_ = requester.progress();
  }
}

bool HostConnection::take_complete(Flow& flow) {
  if (complete_ == 0) {
    return false;
  }
  --complete_;
  flow = incoming_.front();
  incoming_.pop_front();
  return true;
}

// ---- time

Time HostConnection::due() const {
  const Time own = std::min(retry_at_, pair_.due());
  return is_first() ? std::min(own, balancer().next_tick()) : own;
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
  if (is_first() && balancer().next_tick() <= now) {
    const auto waits = [](const HostConnection* one) {
      return one->pair_.requester().waiting() > 0;
    };
    decision = carrier_.tick(now, waits(this) || any_of(others_, waits));
  }
  may_go_ = Time{};
  return decision;
}

std::string HostConnection::waiting() const {
  if (has_failed()) {
    const std::string why =
        failure_.empty() ? fmt::format("after {} time-outs", pair_.count(QpCounter::kTimeOut))
                         : failure_;
    return fmt::format("h{} to h{}: the queue pair has given up, {}\n", ends_.own, ends_.peer, why);
  }
  if (outstanding() == 0) {
    return "";
  }
  return fmt::format(
      "h{} to h{}: {} flows are not acknowledged, from PSN {:#x} on; {} of {} "
      "sessions may be used\n",
      ends_.own, ends_.peer, outstanding(), pair_.requester().oldest(),
      balancer().choice().usable(), balancer().sessions());
}

}  // namespace flitwise
