// SPDX-License-Identifier: Apache-2.0
// What a responder answers: duplicates, ACKs, READ responses, NAKs.
#include "rdma/rc_responder.h"

namespace flitwise {

// ---- duplicates [RX-4]

RdmaEffect RcResponder::take_duplicate(const RdmaPacket& packet, const RdmaOpcodeInfo& info) {
  const bool is_atomic = info.kind == RdmaPacketKind::kAtomic;
  if (is_atomic || info.kind == RdmaPacketKind::kRead) {
    const Request* const request = remembered(packet, is_atomic);
    if (request == nullptr || answers_.size() * 2 > answers_.capacity()) {
      context_.count(QpCounter::kForgotten);
      return {};
    }
    Request again = *request;
    if (!is_atomic) {
      again.psn = packet.psn;
      again.remote = {packet.address, packet.length, packet.key};
      again.packets = static_cast<std::uint32_t>(packets_of(packet.length, context_.setup.mtu));
    }
    answer(
        {is_atomic ? Answer::Kind::kAtomic : Answer::Kind::kRead, kAckSyndrome, false, 0, again});
  } else if (answers_.size() * 2 <= answers_.capacity()) {
    acknowledge(psn_plus(expected_, kPsnMask), kAckSyndrome);  // the newest in order
  }
  return {};
}

// The request that this is again, or for a READ a part of it that begins on a packet.
const RcResponder::Request* RcResponder::remembered(const RdmaPacket& packet,
                                                    bool is_atomic) const {
  for (const Request& one : remembered_) {
    const std::int32_t index = psn_distance(packet.psn, one.psn);
    if (index < 0 || index >= static_cast<std::int32_t>(one.packets) ||
        one.is_atomic != is_atomic || packet.key != one.remote.key) {
      continue;
    }
    const std::uint64_t skipped =
        std::uint64_t{static_cast<std::uint32_t>(index)} * context_.setup.mtu;
    if (packet.address == one.remote.address + skipped &&
        (is_atomic || packet.length + skipped <= one.remote.bytes)) {
      return &one;
    }
  }
  return nullptr;
}

// ---- answers

// One that goes out later covers one that waits just before it. [RX-5]
void RcResponder::acknowledge(Psn psn, std::uint8_t syndrome) {
  if (syndrome == kAckSyndrome && context_.setup.has_echo) {
    acks_.ask(session_);
    return;
  }
  Request request;
  request.psn = psn;
  request.messages = messages_;
  const bool waits = !answers_.empty() && answers_.back().kind == Answer::Kind::kAck &&
                     answers_.back().syndrome == kAckSyndrome;
  if (waits && syndrome == kAckSyndrome) {
    answers_.back().request = request;
    answers_.back().session = session_;
  } else {
    answer({Answer::Kind::kAck, syndrome, false, 0, request, session_});
  }
}

void RcResponder::expire_acks() {
  acks_.expire(context_.now);
  if (delayed_at_ <= context_.now) {
    acknowledge(psn_plus(expected_, kPsnMask), kAckSyndrome);
    since_ack_ = 0;
    delayed_at_ = Time::never();
  }
}

// What an ACK may cover: with go-back-N, one before the answer of a READ must not tell of it.
Psn RcResponder::newest() const {
  if (!context_.setup.is_selective() && reads_waiting_ > 0) {
    for (const Answer& answer : answers_) {
      if (answer.is_new) {
        return psn_plus(answer.request.psn, kPsnMask);
      }
    }
  }
  return psn_plus(expected_, kPsnMask);
}

// What finds no room is lost, as if on the wire.
void RcResponder::answer(const Answer& answer) {
  if (!answers_.full()) {
    answers_.push_back(answer);
  }
}

void RcResponder::begin_packet(RdmaPacket& packet) const {
  packet = RdmaPacket{};
  packet.partition = context_.setup.partition;
  packet.queue_pair = context_.setup.peer;
}

void RcResponder::next_ack(RdmaPacket& packet) {
  begin_packet(packet);
  packet.psn = newest();
  packet.syndrome = kAckSyndrome;
  packet.messages = messages_;
  packet.has_echo = true;
  packet.echo = acks_.take(context_.now);
  packet.session = packet.echo.session;
  owes_ack_ = packet.psn != psn_plus(expected_, kPsnMask);
}

bool RcResponder::next(RdmaPacket& packet) {
  if (acks_.is_due()) {
    next_ack(packet);
    return true;
  }
  if (answers_.empty()) {
    return false;
  }
  Answer& answer = answers_.front();
  const Request& request = answer.request;
  begin_packet(packet);
  packet.psn = psn_plus(request.psn, answer.sent);
  packet.syndrome = answer.syndrome;
  packet.messages = request.messages;
  bool is_last = true;
  if (answer.kind == Answer::Kind::kAck) {
    packet.session = answer.session;
    packet.has_echo = context_.setup.has_echo;
    packet.echo = packet.has_echo ? acks_.take_for_nak(answer.session, context_.now) : AckEcho{};
  } else {
    packet.tries = answer.is_new ? 0 : 1;
  }
  if (answer.kind == Answer::Kind::kAtomic) {
    packet.opcode = RdmaOpcode::kAtomicAck;
    packet.original = request.original;
  } else if (answer.kind == Answer::Kind::kRead) {
    const std::uint32_t mtu = context_.setup.mtu;
    const bool is_first = answer.sent == 0;
    is_last = answer.sent + 1 == request.packets;
    packet.opcode = is_first ? (is_last ? RdmaOpcode::kReadOnly : RdmaOpcode::kReadFirst)
                             : (is_last ? RdmaOpcode::kReadLast : RdmaOpcode::kReadMiddle);
    packet.payload = view_of(request.remote).part(std::uint64_t{answer.sent} * mtu, mtu);
    packet.payload_bytes = static_cast<std::uint32_t>(packet.payload.bytes());
    packet.pad = pad_of(packet.payload_bytes);
    // The region may have gone since the request came. [VB-C10]
    if (!context_.keys.allow(context_.setup.domain, packet.payload, kRemoteRead)) {
      packet.opcode = RdmaOpcode::kAck;
      packet.syndrome = kAccessNak;
      packet.tries = 0;
      packet.has_echo = context_.setup.has_echo;
      if (packet.has_echo) {
        packet.echo = acks_.take_for_nak(acks_.last_session(), context_.now);
      }
      packet.payload = {};
      packet.payload_bytes = packet.pad = 0;
      context_.count(QpCounter::kErrorNak);
      context_.fail();
      answers_.clear();
      reads_waiting_ = 0;
      return true;
    }
  }
  ++answer.sent;
  if (is_last) {
    reads_waiting_ -= answer.is_new ? 1 : 0;
    if (answer.is_new && owes_ack_) {
      acks_.ask(acks_.last_session());
    }
    answers_.pop_front();
  }
  return true;
}

// [RX-7]
void RcResponder::reject(std::uint8_t syndrome, WorkStatus status) {
  context_.count(QpCounter::kErrorNak);
  acknowledge(expected_, syndrome);
  if (buffer_) {
    context_.receive_queue.push(
        {buffer_->id, context_.setup.number, status, true, WorkOpcode::kSend, false, 0, 0});
    buffer_.reset();
  }
  context_.fail();
}

void RcResponder::flush(bool shares_buffers) {
  open_ = RdmaPacketKind::kNone;
  const auto give_back = [&](const ReceiveWork& work) {
    context_.receive_queue.push({work.id, context_.setup.number, WorkStatus::kFlushed, true,
                                 WorkOpcode::kSend, false, 0, 0});
  };
  if (buffer_) {
    give_back(*buffer_);
    buffer_.reset();
  }
  while (!shares_buffers && !context_.buffers.empty()) {
    give_back(context_.buffers.take());
  }
}

}  // namespace flitwise
