// SPDX-License-Identifier: Apache-2.0
// What a requester makes of ACKs and of answers that bring bytes, in order or as they come.
#include "rdma/rc_requester.h"

namespace flitwise {
namespace {

WorkStatus status_of_nak(std::uint8_t syndrome) {
  return syndrome == kInvalidRequestNak ? WorkStatus::kRemoteInvalid
         : syndrome == kAccessNak       ? WorkStatus::kRemoteAccess
                                        : WorkStatus::kRemoteOperation;
}

}  // namespace

RdmaEffect RcRequester::receive(const RdmaPacket& packet) {
  if (packet.has_echo || packet.has_sack) {
    note_arrivals(packet);
  }
  if (psn_distance(packet.psn, oldest_) < 0) {  // [RO-C7]; an ACK for its echo alone is none
    if (!packet.has_echo || packet.syndrome != kAckSyndrome) {
      context_.count(QpCounter::kStaleAck);
    }
    return {};
  }
  if (psn_distance(packet.psn, sent_end_) >= 0) {  // [PS-C3]
    context_.count(QpCounter::kBogusAck);
    return {};
  }
  const RdmaPacketKind kind = info_of(packet.opcode).kind;
  RdmaEffect effect;
  if (kind == RdmaPacketKind::kAck) {
    take_ack(packet);
  } else {
    effect = context_.setup.is_selective() ? take_answer(packet, kind) : take_bytes(packet, kind);
  }
  if (context_.setup.is_selective()) {
    watch_gap();
  }
  fail_if_due();
  return effect;
}

void RcRequester::take_ack(const RdmaPacket& packet) {
  const std::uint8_t type = packet.syndrome & kSyndromeType;
  if (type == 0) {
    if (!acknowledge(psn_plus(packet.psn, 1))) {
      imply_nak();
    }
  } else if (!acknowledge(packet.psn)) {
    imply_nak();  // answers before it are missing: it tells of nothing but that
  } else if (type == (kRnrSyndrome & kSyndromeType)) {
    take_rnr(packet);
  } else if (packet.syndrome == kSequenceNak) {
    take_nak(packet);
  } else if (packet.syndrome > kSequenceNak && packet.syndrome <= kOperationNak) {
    fail(status_of_nak(packet.syndrome));
  } else {
    context_.count(QpCounter::kBadSyndrome);
  }
}

// [VB-9]
void RcRequester::take_rnr(const RdmaPacket& packet) {
  if (waits_for_rnr_) {
    return;
  }
  if (context_.setup.rnr_retries != 7 && rnr_retries_left_-- == 0) {
    fail(WorkStatus::kRnrRetryExceeded);
    return;
  }
  waits_for_rnr_ = true;
  rnr_time_ = packet.syndrome & 0x1f;
  if (context_.setup.is_selective()) {
    sent_.forget_arrival(packet.psn);
    repeat_missing(packet.psn);
  } else {
    go_back();
  }
}

// A READ response or the answer of an atomic. [RDM-5]
RdmaEffect RcRequester::take_bytes(const RdmaPacket& packet, RdmaPacketKind kind) {
  if (!acknowledge(packet.psn)) {
    imply_nak();
    return {};
  }
  const RdmaEffect effect = effect_of(packet, kind, work_.front());
  if (effect.kind != RdmaEffect::Kind::kNone) {
    advance(1);
  }
  return effect;
}

// Where the bytes of an answer go. None: it does not fit, and its work request has failed.
RdmaEffect RcRequester::effect_of(const RdmaPacket& packet, RdmaPacketKind kind, Work& work) {
  const SendWork& request = work.request;
  const std::uint32_t index = (packet.psn - work.first) & kPsnMask;
  const bool is_result = kind == RdmaPacketKind::kAtomicAck;
  RdmaEffect effect = {
      is_result ? RdmaEffect::Kind::kResult : RdmaEffect::Kind::kPayload,
      request.local.part(std::uint64_t{index} * context_.setup.mtu, context_.setup.mtu)};
  const bool is_last = index + 1 == work.packets;
  // One that was asked for to fill a hole is the last of that.
  const bool may_be_last = is_last || context_.setup.is_selective();
  const bool may_be_first =
      index == 0 || packet.psn == asked_again_ || context_.setup.is_selective();
  const std::uint64_t bytes = is_result ? 0 : effect.view.bytes();
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  if ((is_result ? !is_atomic(request.opcode) : request.opcode != WorkOpcode::kRead) ||
      (packet.syndrome & kSyndromeType) != (kAckSyndrome & kSyndromeType) ||
      (index == 0 && !info.is_first) || (info.is_first && !may_be_first) ||
      (is_last && !info.is_last) || (info.is_last && !may_be_last) ||
      packet.payload_bytes != bytes || packet.pad != pad_of(packet.payload_bytes)) {
    work.failure = WorkStatus::kBadResponse;
    return {};
  }
  if (!context_.keys.allow(context_.setup.domain, effect.view, kLocalWrite)) {
    work.failure = WorkStatus::kLocalProtection;
    return {};
  }
  return effect;
}

// All before `end` has come. False: it would have to, but a READ or atomic has had no answer.
bool RcRequester::acknowledge(Psn end) {
  if (context_.setup.is_selective()) {
    processed_ = psn_distance(end, processed_) > 0 ? end : processed_;
    drain();
    return true;  // an ACK that overtakes an answer tells of no loss [RX-2]
  }
  while (psn_distance(end, oldest_) > 0) {
    const Work& work = work_.front();
    if (is_read_or_atomic(work.request.opcode)) {
      return false;
    }
    const Psn work_end = psn_plus(work.first, work.packets);
    advance((psn_distance(end, work_end) > 0 ? work_end - oldest_ : end - oldest_) & kPsnMask);
  }
  return true;
}

// What an ACK tells of packets behind those that it acknowledges. [MO-1] [RX-6]
void RcRequester::note_arrivals(const RdmaPacket& packet) {
  if (!context_.setup.is_selective()) {
    return;
  }
  const bool is_ack = (packet.syndrome & kSyndromeType) == 0;
  const Psn missing = is_ack ? psn_plus(packet.psn, 1) : packet.psn;
  const auto note = [&](Psn psn) {
    const SentPacket* const sent = sent_.find(psn);
    if (psn_distance(psn, oldest_) >= 0 && psn_distance(psn, missing) > 0 &&
        psn_distance(psn, sent_end_) < 0 && sent != nullptr && sent->is_answered == 0) {
      sent_.arrive(psn);
    }
  };
  if (packet.has_echo && packet.syndrome == kAckSyndrome) {
    note(packet.echo.psn);
  }
  for (std::uint64_t bits = packet.has_sack ? packet.sack : 0; bits != 0; bits &= bits - 1) {
    note(psn_plus(missing, 1 + static_cast<std::uint32_t>(__builtin_ctzll(bits))));
  }
}

// ---- answers in any order [RX-2]

// A READ response or the answer of an atomic, in any order within the window. Its bytes go where
// they belong at once; it counts when all before it have come.
RdmaEffect RcRequester::take_answer(const RdmaPacket& packet, RdmaPacketKind kind) {
  Work& work = work_of(packet.psn);
  if (sent_.has_arrived(packet.psn) && is_read_or_atomic(work.request.opcode)) {
    context_.count(QpCounter::kDuplicate);
    return {};
  }
  // Whoever answers has done all before it.
  processed_ = psn_distance(work.first, processed_) > 0 ? work.first : processed_;
  drain();
  if (psn_distance(packet.psn, oldest_) > static_cast<int>(context_.setup.reorder_window)) {
    context_.count(QpCounter::kOverflow);
    return {};
  }
  const RdmaEffect effect = effect_of(packet, kind, work);
  if (effect.kind == RdmaEffect::Kind::kNone) {
    return {};  // the work has failed
  }
  if (packet.psn != oldest_) {
    context_.count(QpCounter::kHeld);
  }
  sent_.arrive(packet.psn);
  ++answers_;
  drain();
  return effect;
}

// Answers that have come and packets that have been acknowledged are done, as far as nothing before
// them is missing.
void RcRequester::drain() {
  while (!work_.empty() && work_.front().is_started && oldest_ != sent_end_) {
    const Work& work = work_.front();
    if (work.failure != WorkStatus::kSuccess) {
      return;
    }
    if (is_read_or_atomic(work.request.opcode)) {
      if (!sent_.has_arrived(oldest_)) {
        return;
      }
      --answers_;
      advance(1);
      continue;
    }
    const Psn work_end = psn_plus(work.first, work.packets);
    const Psn end = psn_distance(processed_, work_end) > 0 ? work_end : processed_;
    if (psn_distance(end, oldest_) <= 0) {
      return;
    }
    advance((end - oldest_) & kPsnMask);
  }
}

// Answers are missing before others that have come: those before gap_end_ since the timer began.
void RcRequester::watch_gap() {
  if (answers_ == 0) {
    gap_due_ = Time::never();
  } else if (gap_due_ == Time::never() || psn_distance(oldest_, gap_end_) >= 0) {
    gap_due_ = context_.now + context_.setup.gap_time;
    gap_end_ = sent_.arrived().end();
  }
}

}  // namespace flitwise
