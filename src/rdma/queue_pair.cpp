// SPDX-License-Identifier: Apache-2.0
#include "rdma/queue_pair.h"

namespace flitwise {

bool QueuePair::modify(QpState to) {
  const QpState from = context_.state;
  if (!may_move(from, to)) {
    return false;
  }
  context_.state = to;
  if (to == QpState::kReset) {
    requester_.reset();
    responder_.reset();
    reset_order(0);
    if (!shares_buffers_) {
      context_.buffers.clear();
    }
  } else if (to == QpState::kRtr) {
    responder_.begin(context_.setup.peer_first_psn);
    reset_order(responder_.expected());
  } else if (to == QpState::kRts && from == QpState::kRtr) {
    requester_.begin(context_.setup.first_psn);
  }
  settle();
  return true;
}

PostResult QueuePair::post_send(const SendWork& work) {
  const PostResult result = requester_.post(work);
  settle();
  return result;
}

PostResult QueuePair::post_receive(const ReceiveWork& work) {
  if (context_.state == QpState::kReset && !shares_buffers_) {
    return PostResult::kWrongState;
  }
  const PostResult result = context_.buffers.post(work) ? PostResult::kTaken : PostResult::kFull;
  settle();
  return result;
}

// A NAK that has made the state ERR still goes out.
bool QueuePair::next(RdmaPacket& packet, Time now, bool answers_alone) {
  context_.now = now;
  const bool has_packet =
      next_cnp(packet) || responder_.next(packet) || (!answers_alone && requester_.next(packet));
  if (has_packet && packet.opcode == RdmaOpcode::kAck && context_.setup.has_sack) {
    const bool is_ack = (packet.syndrome & kSyndromeType) == 0;
    packet.has_sack = true;
    packet.sack = held_.bits(psn_plus(packet.psn, is_ack ? 2 : 1));
  }
  settle();
  return has_packet;
}

RdmaEffect QueuePair::receive(const RdmaPacket& packet, Time now, Time came) {
  context_.now = now;
  context_.came = came;
  if (!is_for_us(packet)) {
    return {};
  }
  if (packet.opcode == RdmaOpcode::kCnp) {
    context_.count(QpCounter::kNotified);
    return {RdmaEffect::Kind::kSlowDown, {}};
  }
  if (packet.is_marked && cnp_.marked(packet.session, now)) {
    cnps_.push_back(packet.session);
  }
  const RdmaEffect effect =
      info_of(packet.opcode).is_request() ? take_request(packet) : requester_.receive(packet);
  settle();
  return effect;
}

void QueuePair::time_out(Time now, Time sent_before) {
  context_.now = now;
  requester_.time_out(sent_before);
  settle();
}

void QueuePair::expire(Time now) {
  context_.now = now;
  if (is_one_of(context_.state, kReceivingStates)) {
    responder_.expire_acks();
    if (gap_due_ <= now) {
      nak_gap();
    }
  }
  if (is_one_of(context_.state, kSendingStates)) {
    requester_.expire_gap();
  }
  settle();
}

// [CC-2]
bool QueuePair::next_cnp(RdmaPacket& packet) {
  if (cnps_.empty()) {
    return false;
  }
  packet = RdmaPacket{};
  packet.opcode = RdmaOpcode::kCnp;
  packet.queue_pair = context_.setup.peer;
  packet.session = cnps_.front();
  cnps_.erase(cnps_.begin());
  context_.count(QpCounter::kNotifies);
  return true;
}

// ---- requests in any order [RX-2]

RdmaEffect QueuePair::take_request(const RdmaPacket& packet) {
  const std::int32_t ahead = psn_distance(packet.psn, responder_.expected());
  if (ahead > 0 && !context_.setup.keeps_order()) {
    return hold(packet);
  }
  const RdmaEffect effect = responder_.receive(packet);
  if (ahead == 0) {
    watch_gap();
  }
  return effect;
}

// A packet ahead of others waits for them, unless it is too far ahead, or is here already.
RdmaEffect QueuePair::hold(const RdmaPacket& packet) {
  const std::uint32_t ahead = (packet.psn - responder_.expected()) & kPsnMask;
  const bool is_beyond = ahead > context_.setup.reorder_window;
  const bool is_double = !is_beyond && held_.contains(packet.psn);
  RdmaEffect effect;
  if (is_beyond || is_double) {
    context_.count(is_beyond ? QpCounter::kOverflow : QpCounter::kDuplicate);
  } else {
    const bool is_placed = may_place(packet, effect);
    effect.kind = is_placed ? RdmaEffect::Kind::kPayload : RdmaEffect::Kind::kHold;
    const bool is_first = held_.empty();
    held_.hold(packet, context_.now, is_placed);
    context_.count(QpCounter::kHeld);
    deepest_ = std::max(deepest_, ahead);
    if (is_first) {
      watch_gap();
    }
  }
  if (!is_beyond) {
    responder_.note_held(packet);
  }
  const bool has_asked = gap_asked_ == responder_.expected() && has_asked_;
  if (ahead > context_.setup.nak_distance && !has_asked) {
    nak_gap();
  }
  return effect;
}

// With a RETH in each packet of a WRITE its bytes can go to memory before their turn, if it may
// write there; the rules look at it again when it is in order.
bool QueuePair::may_place(const RdmaPacket& packet, RdmaEffect& effect) const {
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  const QueuePairSetup& setup = context_.setup;
  const Sge target = {packet.address, packet.payload_bytes, packet.key};
  const bool may = setup.mode == ReceiveMode::kDirect && info.kind == RdmaPacketKind::kWrite &&
                   (info.is_first || packet.names_place) && packet.payload_bytes <= setup.mtu &&
                   packet.payload_bytes <= packet.length && (setup.rights & kRemoteWrite) != 0 &&
                   context_.keys.allow(setup.domain, target, kRemoteWrite);
  if (may) {
    effect.view = view_of(target);
  }
  return may;
}

bool QueuePair::release_held(RdmaPacket& packet, RdmaEffect& effect, Time now) {
  bool is_placed = false;
  if (!is_one_of(context_.state, kReceivingStates) ||
      !held_.take(responder_.expected(), packet, is_placed)) {
    return false;
  }
  context_.now = now;
  packet.queue_pair = context_.setup.number;
  effect = responder_.receive(packet, true);
  if (is_placed && effect.kind == RdmaEffect::Kind::kPayload) {
    effect = {};
  }
  watch_gap();
  settle();
  return true;
}

// What is missing has been so since the first packet behind it came. Where that has had no receive
// buffer, its sender knows. [RX-3]
void QueuePair::watch_gap() {
  held_.advance(responder_.expected());
  const bool is_open = !held_.empty() && !held_.contains(responder_.expected());
  gap_due_ = is_open && !responder_.waits_for_buffer() ? held_.first_came() + context_.peer_gap_time
                                                       : Time::never();
  if (gap_due_ <= context_.now) {
    nak_gap();
  }
}

// One more, if that is lost, a gap time later.
void QueuePair::nak_gap() {
  if (responder_.waits_for_buffer()) {
    return;
  }
  responder_.nak_gap();
  has_asked_ = true;
  gap_asked_ = responder_.expected();
  gap_due_ = context_.now + context_.peer_gap_time;
}

void QueuePair::reset_order(Psn expected) {
  held_.reset(expected);
  has_asked_ = false;
  gap_due_ = Time::never();
  cnp_.reset();
  cnps_.clear();
}

// Checks 6 to 10, each with a counter, silent. [RX-1] [RX-C3, RX-C4, RX-C5]
bool QueuePair::is_for_us(const RdmaPacket& packet) {
  const std::optional<QpCounter> flaw = flaw_of(packet);
  if (flaw) {
    context_.count(*flaw);
  }
  return !flaw;
}

std::optional<QpCounter> QueuePair::flaw_of(const RdmaPacket& packet) const {
  if (!packet.is_intact) {
    return QpCounter::kBadIcrc;
  }
  if (packet.version != 0) {
    return QpCounter::kBadVersion;
  }
  const bool is_cnp = packet.opcode == RdmaOpcode::kCnp && context_.setup.cnp != CnpMode::kNone;
  if (static_cast<unsigned>(packet.opcode) >> 5 != 0 && !is_cnp) {
    return QpCounter::kBadTransport;
  }
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  if (info.kind == RdmaPacketKind::kNone) {
    return QpCounter::kBadOpcode;
  }
  if (packet.queue_pair != context_.setup.number) {
    return QpCounter::kBadQueuePair;
  }
  if (!are_partners(packet.partition, context_.setup.partition)) {
    return QpCounter::kBadPartition;
  }
  if (!is_one_of(context_.state, info.is_request() ? kReceivingStates : kSendingStates)) {
    return QpCounter::kBadState;
  }
  return std::nullopt;
}

// A completion queue in error takes its queue pairs with it; in ERR nothing waits. [VB-7, 8]
void QueuePair::settle() {
  if (context_.send_queue.has_failed() || context_.receive_queue.has_failed()) {
    context_.state = context_.state == QpState::kReset ? QpState::kReset : QpState::kError;
  }
  if (context_.state == QpState::kError) {
    requester_.flush();
    responder_.flush(shares_buffers_);
    gap_due_ = Time::never();
  }
}

}  // namespace flitwise
