// SPDX-License-Identifier: Apache-2.0
#include "rdma/rc_responder.h"

#include <algorithm>

namespace flitwise {
namespace {

constexpr std::uint32_t kAtomicOperandBytes = 8;
constexpr std::uint8_t kNoFlaw = 0;

RdmaRight right_of(RdmaPacketKind kind) {
  switch (kind) {
    case RdmaPacketKind::kWrite: return kRemoteWrite;
    case RdmaPacketKind::kRead: return kRemoteRead;
    case RdmaPacketKind::kAtomic: return kRemoteAtomic;
    default: return kLocalRead;
  }
}

// What came, as the sender's software calls it.
WorkOpcode work_of(const RdmaOpcodeInfo& info) {
  if (info.kind == RdmaPacketKind::kWrite) {
    return WorkOpcode::kWriteImm;
  }
  return info.invalidates     ? WorkOpcode::kSendInv
         : info.has_immediate ? WorkOpcode::kSendImm
                              : WorkOpcode::kSend;
}

}  // namespace

// Room for an answer to each READ and atomic that may be out, an ACK between them, and as much for
// duplicates, which are dropped where there is none.
RcResponder::RcResponder(QpContext& context)
    : context_(context),
      answers_(std::size_t{4} * context.setup.most_reads_taken + 8),
      remembered_(context.setup.most_reads_taken) {}

void RcResponder::reset() {
  answers_.clear();
  std::fill(remembered_.begin(), remembered_.end(), Request{});
  buffer_.reset();
  open_ = RdmaPacketKind::kNone;
  expected_ = messages_ = since_ack_ = next_remembered_ = reads_waiting_ = 0;
  message_bytes_ = 0;
  has_nakked_ = false;
  acks_.reset();
  owes_ack_ = false;
  delayed_at_ = Time::never();
}

// The order of the checks is that of the rule; the first that fails is the only one. [RX-1]
RdmaEffect RcResponder::receive(const RdmaPacket& packet, bool was_held) {
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  const std::int32_t ahead = psn_distance(packet.psn, expected_);
  session_ = packet.session;
  if (ahead < 0) {
    context_.count(QpCounter::kDuplicate);
    note(packet, info.kind == RdmaPacketKind::kSend || info.kind == RdmaPacketKind::kWrite);
    return take_duplicate(packet, info);
  }
  if (ahead > 0) {  // [RX-2]
    context_.count(QpCounter::kOutOfOrder);
    if (!has_nakked_) {
      context_.count(QpCounter::kSequenceNaks);
      note_refused(packet, was_held);
      acknowledge(expected_, kSequenceNak);
      has_nakked_ = true;
    }
    return {};
  }
  if (is_refused(packet, info)) {
    note_refused(packet, was_held);
    return {};
  }
  has_nakked_ = false;
  if (!was_held) {
    note(packet, packet.asks_for_ack);
  }
  return info.kind == RdmaPacketKind::kSend || info.kind == RdmaPacketKind::kWrite
             ? take_message(packet, info)
             : take_read_or_atomic(packet, info);
}

bool RcResponder::is_refused(const RdmaPacket& packet, const RdmaOpcodeInfo& info) {
  if (const std::uint8_t flaw = flaw_of_order(info); flaw != kNoFlaw) {
    reject(flaw, WorkStatus::kFlushed);
  } else if (lacks_place(info)) {  // packets behind it are dropped in silence, or kept [RDM-7]
    context_.count(QpCounter::kRnrNak);
    acknowledge(expected_, kRnrSyndrome | context_.setup.rnr_time);
    has_nakked_ = true;
  } else if (const std::uint8_t wrong = flaw_of_length(packet, info); wrong != kNoFlaw) {
    reject(wrong, WorkStatus::kLocalLength);
  } else if (is_barred(packet, info)) {
    reject(kAccessNak, WorkStatus::kFlushed);
  } else {
    return false;
  }
  return true;
}

void RcResponder::note_held(const RdmaPacket& packet) {
  session_ = packet.session;
  if (context_.setup.has_echo) {
    note(packet, packet.asks_for_ack);
  } else if (context_.setup.has_sack) {
    acknowledge(psn_plus(expected_, kPsnMask), kAckSyndrome);
  }
}

void RcResponder::nak_gap() {
  session_ = acks_.last_session();
  context_.count(QpCounter::kSequenceNaks);
  acknowledge(expected_, kSequenceNak);
}

void RcResponder::note(const RdmaPacket& packet, bool must) {
  if (context_.setup.has_echo) {
    acks_.received(packet, context_, must);
  }
}

void RcResponder::note_refused(const RdmaPacket& packet, bool was_held) {
  if (context_.setup.has_echo && !was_held) {
    acks_.refused(packet, context_.came);
  }
}

// ---- checks

// 12 and 12a: FIRST, MIDDLE and LAST in order; what the queue pair permits. [RX-7] [RX-C6]
std::uint8_t RcResponder::flaw_of_order(const RdmaOpcodeInfo& info) const {
  const bool is_open = open_ != RdmaPacketKind::kNone;
  const RdmaRight right = right_of(info.kind);
  const bool is_flawed = info.is_first == is_open || (is_open && info.kind != open_) ||
                         (context_.setup.rights & right) != right;
  return is_flawed ? kInvalidRequestNak : kNoFlaw;
}

// 12b: no receive buffer, or too many READs and atomics wait for their answers.
bool RcResponder::lacks_place(const RdmaOpcodeInfo& info) const {
  if (info.kind == RdmaPacketKind::kRead || info.kind == RdmaPacketKind::kAtomic) {
    return reads_waiting_ >= context_.setup.most_reads_taken || answers_.full();
  }
  const bool takes_buffer = info.kind == RdmaPacketKind::kSend ? info.is_first : info.has_immediate;
  return takes_buffer && context_.buffers.empty();
}

// 13: bytes, pad and alignment. [RX-C7]
std::uint8_t RcResponder::flaw_of_length(const RdmaPacket& packet,
                                         const RdmaOpcodeInfo& info) const {
  const std::uint32_t mtu = context_.setup.mtu, bytes = packet.payload_bytes;
  bool is_good = packet.pad == pad_of(bytes);
  if (info.kind == RdmaPacketKind::kAtomic) {
    is_good = is_good && bytes == 0 && packet.address % kAtomicOperandBytes == 0;
  } else if (info.kind == RdmaPacketKind::kRead) {
    is_good = is_good && bytes == 0 && packet.length <= 1U << 31 &&
              packets_of(packet.length, mtu) <= kMostOutstandingPsns;
  } else {
    const std::uint32_t least = !info.is_last ? mtu : info.is_first ? 0 : 1;
    is_good = is_good && bytes >= least && bytes <= mtu;
    if (info.kind == RdmaPacketKind::kWrite) {
      const std::uint64_t left = info.is_first ? packet.length : target_.bytes;
      is_good = is_good && (!packet.names_place ||
                            (packet.address == target_.address && packet.key == target_.key));
      is_good = is_good && (info.is_last ? bytes == left : bytes < left) && left <= 1U << 31;
    }
  }
  return is_good ? kNoFlaw : kInvalidRequestNak;
}

// 14: key, domain, bounds and rights, of the whole message with its first packet, and again of what
// is left with each. [RX-C8, RX-C9] [VB-C10]
bool RcResponder::is_barred(const RdmaPacket& packet, const RdmaOpcodeInfo& info) const {
  Sge remote = {packet.address, packet.length, packet.key};
  if (info.kind == RdmaPacketKind::kSend) {
    remote = {};
  } else if (info.kind == RdmaPacketKind::kAtomic) {
    remote.bytes = kAtomicOperandBytes;
  } else if (!info.is_first) {
    remote = target_;
  }
  return !context_.keys.allow(context_.setup.domain, remote, right_of(info.kind));
}

// ---- requests in order

RdmaEffect RcResponder::take_message(const RdmaPacket& packet, const RdmaOpcodeInfo& info) {
  if (info.is_first) {
    message_bytes_ = 0;
    target_ = {packet.address, packet.length, packet.key};
  }
  if (info.kind == RdmaPacketKind::kSend ? info.is_first : info.has_immediate) {
    buffer_ = context_.buffers.take();
  }
  RdmaEffect effect = {RdmaEffect::Kind::kPayload, {}};
  if (info.kind == RdmaPacketKind::kSend) {
    effect.view = buffer_->local.part(message_bytes_, packet.payload_bytes);
    if (effect.view.bytes() < packet.payload_bytes) {  // [RDM-8]
      reject(kInvalidRequestNak, WorkStatus::kLocalLength);
      return {};
    }
    if (!context_.keys.allow(context_.setup.domain, effect.view, kLocalWrite)) {
      reject(kOperationNak, WorkStatus::kLocalProtection);
      return {};
    }
    if (info.invalidates &&
        !context_.keys.invalidate(packet.immediate, context_.setup.domain)) {  // [RDM-10]
      reject(kAccessNak, WorkStatus::kFlushed);
      return {};
    }
  } else {
    effect.view = view_of({target_.address, packet.payload_bytes, target_.key});
    target_.address += packet.payload_bytes;
    target_.bytes -= packet.payload_bytes;
  }
  message_bytes_ += packet.payload_bytes;
  expected_ = psn_plus(expected_, 1);
  open_ = info.is_last ? RdmaPacketKind::kNone : info.kind;
  if (info.is_last) {
    finish_message(packet, info);
  }
  if (context_.setup.has_echo) {
    if (packet.asks_for_ack) {
      acks_.ask(packet.session);
    }
  } else if (packet.asks_for_ack || ++since_ack_ >= context_.setup.ack_every) {
    acknowledge(packet.psn, kAckSyndrome);
    since_ack_ = 0;
    delayed_at_ = Time::never();
  } else if (delayed_at_ == Time::never() && context_.setup.ack_delay != Time::never()) {
    delayed_at_ = context_.now + context_.setup.ack_delay;
  }
  return effect;
}

// [VB-5] [RX-8]
void RcResponder::finish_message(const RdmaPacket& packet, const RdmaOpcodeInfo& info) {
  messages_ = (messages_ + 1) & kPsnMask;
  if (buffer_) {
    WorkCompletion done = {buffer_->id,    context_.setup.number, WorkStatus::kSuccess,
                           true,           work_of(info),         packet.is_solicited,
                           message_bytes_, packet.immediate};
    context_.receive_queue.push(done);
    buffer_.reset();
  }
}

RdmaEffect RcResponder::take_read_or_atomic(const RdmaPacket& packet, const RdmaOpcodeInfo& info) {
  const bool is_atomic = info.kind == RdmaPacketKind::kAtomic;
  messages_ = (messages_ + 1) & kPsnMask;
  const std::uint32_t bytes = is_atomic ? kAtomicOperandBytes : packet.length;
  const Request request = {
      packet.psn, is_atomic ? 1 : static_cast<std::uint32_t>(packets_of(bytes, context_.setup.mtu)),
      messages_,  {packet.address, bytes, packet.key},
      is_atomic,  0};
  remembered_[next_remembered_] = request;
  next_remembered_ = (next_remembered_ + 1) % context_.setup.most_reads_taken;
  expected_ = psn_plus(expected_, request.packets);
  since_ack_ = 0;  // the answer acknowledges all before it
  delayed_at_ = Time::never();
  ++reads_waiting_;
  answer({is_atomic ? Answer::Kind::kAtomic : Answer::Kind::kRead, kAckSyndrome, true, 0, request});
  return {is_atomic ? RdmaEffect::Kind::kAtomic : RdmaEffect::Kind::kNone, view_of(request.remote)};
}

void RcResponder::finish_atomic(std::uint64_t original) {
  const std::size_t last = (next_remembered_ + remembered_.size() - 1) % remembered_.size();
  remembered_[last].original = original;
  // A NAK for a gap behind it may wait already.
  const auto answer = std::find_if(answers_.rbegin(), answers_.rend(), [](const Answer& one) {
    return one.kind == Answer::Kind::kAtomic && one.is_new;
  });
  if (answer != answers_.rend()) {
    answer->request.original = original;
  }
}

}  // namespace flitwise
