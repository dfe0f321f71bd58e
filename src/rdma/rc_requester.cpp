// SPDX-License-Identifier: Apache-2.0
#include "rdma/rc_requester.h"

#include <algorithm>

namespace flitwise {
namespace {

constexpr std::uint32_t kAtomicBytes = 8;

// SEND or WRITE at its place in the message; what comes with its last packet is `variant`.
RdmaOpcode opcode_of(WorkOpcode work, bool is_first, bool is_last) {
  const bool is_write = work == WorkOpcode::kWrite || work == WorkOpcode::kWriteImm;
  const RdmaOpcode first = is_write ? RdmaOpcode::kWriteFirst : RdmaOpcode::kSendFirst;
  const bool has_immediate = work == WorkOpcode::kSendImm || work == WorkOpcode::kWriteImm;
  unsigned place = is_first ? 0 : 1;
  if (is_last) {
    if (work == WorkOpcode::kSendInv) {
      return is_first ? RdmaOpcode::kSendOnlyInv : RdmaOpcode::kSendLastInv;
    }
    place = (is_first ? 4U : 2U) + (has_immediate ? 1U : 0U);
  }
  return static_cast<RdmaOpcode>(static_cast<unsigned>(first) + place);
}

}  // namespace

RcRequester::RcRequester(QpContext& context)
    : context_(context),
      work_(context.setup.send_depth),
      keeps_sent_(context.setup.keeps_sent || context.setup.is_selective()) {}

void RcRequester::reset() {
  work_.clear();
  next_ = next_packet_ = reads_out_ = without_ack_request_ = 0;
  oldest_ = sent_end_ = allotted_end_ = 0;
  asked_ = kPsnMask;
  waits_for_rnr_ = has_gone_back_ = false;
  forget_sent();
}

void RcRequester::begin(Psn first) {
  oldest_ = sent_end_ = allotted_end_ = first & kPsnMask;
  asked_ = psn_plus(oldest_, kPsnMask);
  forget_sent();
  retries_left_ = context_.setup.retries;
  rnr_retries_left_ = context_.setup.rnr_retries;
}

// [VB-3] [VB-C4, VB-C7, VB-C11] [PS-3]
PostResult RcRequester::post(const SendWork& work) {
  if (!is_one_of(context_.state, kSendingStates | bit_of(QpState::kError))) {
    return PostResult::kWrongState;
  }
  const std::uint64_t bytes = work.local.bytes();
  const std::uint64_t packets = packets_of(bytes, context_.setup.mtu);
  if (bytes > kMostMessageBytes || packets > kMostOutstandingPsns) {
    return PostResult::kTooLong;
  }
  if ((is_atomic(work.opcode) && bytes != kAtomicBytes) ||
      (work.opcode == WorkOpcode::kLocalInv && bytes != 0)) {
    return PostResult::kMalformed;
  }
  if (work_.full()) {
    return PostResult::kFull;
  }
  work_.push_back({work, bytes,
                   work.opcode == WorkOpcode::kLocalInv ? 0 : static_cast<std::uint32_t>(packets),
                   0, false, WorkStatus::kSuccess});
  return PostResult::kTaken;
}

// ---- out

bool RcRequester::next(RdmaPacket& packet) {
  if (sent_.has_again() && next_again(packet)) {
    return true;
  }
  while (has_unsent()) {
    Work& work = work_[next_];
    if (!work.is_started && !start(work)) {
      return false;
    }
    if (work.packets == 0) {  // [RDM-10]
      const bool is_done = context_.keys.invalidate(work.request.immediate, context_.setup.domain);
      is_done ? complete(WorkStatus::kSuccess) : fail(WorkStatus::kLocalProtection);
      continue;
    }
    const Psn psn = psn_plus(work.first, next_packet_);
    const bool is_again = psn_distance(psn, sent_end_) < 0;
    if (work.failure != WorkStatus::kSuccess || !is_in_window(psn)) {
      return false;
    }
    if (!make(work, next_packet_, packet)) {
      return false;
    }
    note_sent(is_read_or_atomic(work.request.opcode) ? psn_plus(work.first, work.packets)
                                                     : psn_plus(psn, 1),
              is_again);
    return true;
  }
  return false;
}

RequesterWait RcRequester::waits_for() const {
  if (!has_unsent()) {
    return RequesterWait::kNone;
  }
  const Work& work = work_[next_];
  if (!work.is_started && is_read_too_many(work)) {
    return RequesterWait::kReads;
  }
  return work.packets == 0 || is_in_window(next_psn()) ? RequesterWait::kNone
                                                       : RequesterWait::kWindow;
}

Psn RcRequester::next_psn() const {
  return next_ < work_.size() && work_[next_].is_started
             ? psn_plus(work_[next_].first, next_packet_)
             : allotted_end_;
}

// A packet of a work request that has begun.
bool RcRequester::make(Work& work, std::uint32_t index, RdmaPacket& packet) {
  // Checked for each packet: the region may have gone since the last one. [VB-C10]
  const bool reads = is_read_or_atomic(work.request.opcode);
  if (!context_.keys.allow(context_.setup.domain, work.request.local,
                           reads ? kLocalWrite : kLocalRead)) {
    work.failure = WorkStatus::kLocalProtection;
    fail_if_due();
    return false;
  }
  begin_packet(packet);
  packet.psn = psn_plus(work.first, index);
  fill(work, index, packet);
  packet.tries = keeps_sent_ ? sent_.count(packet.psn, reads) : 0;
  return true;
}

void RcRequester::begin_packet(RdmaPacket& packet) const {
  packet = RdmaPacket{};
  packet.partition = context_.setup.partition;
  packet.queue_pair = context_.setup.peer;
}

// [VB-10] [VB-C9] [PS-3]; a queue that drains starts nothing. [VB-3]
bool RcRequester::may_start(const Work& work) const {
  const std::uint64_t unacknowledged = (allotted_end_ - oldest_) & kPsnMask;
  return context_.state == QpState::kRts && !(work.request.is_fenced && reads_out_ > 0) &&
         !is_read_too_many(work) && !(work.packets == 0 && next_ > 0) &&
         unacknowledged + work.packets <= kMostOutstandingPsns;
}

bool RcRequester::start(Work& work) {
  // Its first PSN is held against the window before it has one: what does not go is not started.
  if (!may_start(work) ||
      psn_distance(allotted_end_, oldest_) >= static_cast<int>(context_.setup.window)) {
    return false;
  }
  work.is_started = true;
  work.first = allotted_end_;
  allotted_end_ = psn_plus(allotted_end_, work.packets);
  reads_out_ += is_read_or_atomic(work.request.opcode) ? 1 : 0;
  next_packet_ = 0;
  return true;
}

void RcRequester::fill(const Work& work, std::uint32_t index, RdmaPacket& packet) {
  const SendWork& request = work.request;
  const std::uint64_t offset = std::uint64_t{index} * context_.setup.mtu;
  packet.address = request.remote_address;
  packet.key = request.remote_key;
  if (request.opcode == WorkOpcode::kRead) {  // what is missing, from there on [RDM-5]
    packet.opcode = RdmaOpcode::kReadRequest;
    packet.address += offset;
    packet.length = static_cast<std::uint32_t>(work.bytes - offset);
    asked_again_ = index > 0 ? packet.psn : asked_again_;
  } else if (is_atomic(request.opcode)) {
    packet.opcode =
        request.opcode == WorkOpcode::kCmpSwap ? RdmaOpcode::kCmpSwap : RdmaOpcode::kFetchAdd;
    packet.operand = request.operand;
    packet.compare = request.compare;
  } else {
    fill_message(work, index, packet);
  }
}

// [VB-4] [RX-5]
void RcRequester::fill_message(const Work& work, std::uint32_t index, RdmaPacket& packet) {
  const std::uint64_t offset = std::uint64_t{index} * context_.setup.mtu;
  const bool is_last = index + 1 == work.packets;
  packet.opcode = opcode_of(work.request.opcode, index == 0, is_last);
  packet.length = static_cast<std::uint32_t>(work.bytes);
  packet.immediate = work.request.immediate;
  if (context_.setup.mode == ReceiveMode::kDirect && index > 0 &&
      info_of(packet.opcode).kind == RdmaPacketKind::kWrite) {
    packet.names_place = true;
    packet.address += offset;
    packet.length -= static_cast<std::uint32_t>(offset);
  }
  packet.payload = work.request.local.part(offset, context_.setup.mtu);
  packet.payload_bytes = static_cast<std::uint32_t>(packet.payload.bytes());
  packet.pad = pad_of(packet.payload_bytes);
  packet.is_solicited = is_last && work.request.is_solicited;
  packet.asks_for_ack =
      is_last || ++without_ack_request_ >= kPacketsPerAckRequest || ends_window(packet.psn);
  if (packet.asks_for_ack) {
    without_ack_request_ = 0;
    asked_ = packet.psn;
  }
}

// Is nothing sent behind it before an ACK comes that nobody has asked for?
bool RcRequester::ends_window(Psn psn) const {
  const bool is_asked = psn_distance(asked_, oldest_) >= 0 && psn_distance(asked_, psn) < 0;
  return !is_asked && psn_distance(psn, oldest_) + 1 >= static_cast<int>(context_.setup.window);
}

void RcRequester::note_sent(Psn end, bool is_again) {
  const Work& work = work_[next_];
  if (is_again) {
    context_.count(QpCounter::kResent);
  }
  if (psn_distance(end, sent_end_) > 0) {
    sent_end_ = end;
  }
  next_packet_ = (end - work.first) & kPsnMask;
  if (next_packet_ == work.packets) {
    ++next_;
    next_packet_ = 0;
  }
}

// ---- progress

// The oldest packets, all of the oldest work, are done.
void RcRequester::advance(std::uint32_t packets) {
  oldest_ = psn_plus(oldest_, packets);
  asked_ = psn_distance(asked_, oldest_) < 0 ? psn_plus(oldest_, kPsnMask) : asked_;
  ++progress_;
  if (keeps_sent_) {
    sent_.advance(oldest_);
  }
  retries_left_ = context_.setup.retries;
  rnr_retries_left_ = context_.setup.rnr_retries;
  has_gone_back_ = waits_for_rnr_ = false;
  const Work& work = work_.front();
  const std::uint32_t done = (oldest_ - work.first) & kPsnMask;
  if (done == work.packets) {
    complete(WorkStatus::kSuccess);
  } else if (next_ == 0) {
    next_packet_ = std::max(next_packet_, done);
  }
}

void RcRequester::go_back() {
  asked_ = psn_plus(oldest_, kPsnMask);
  next_ = 0;
  next_packet_ = (oldest_ - work_.front().first) & kPsnMask;
}

void RcRequester::imply_nak() {
  if (!has_gone_back_) {
    context_.count(QpCounter::kLostAnswer);
    go_back();
    has_gone_back_ = true;
  }
}

void RcRequester::time_out(Time sent_before) {
  if (!is_one_of(context_.state, kSendingStates) || !timer_runs()) {
    return;
  }
  context_.count(QpCounter::kTimeOut);
  if (retries_left_ == 0) {
    fail(WorkStatus::kRetryExceeded);
    return;
  }
  --retries_left_;
  has_gone_back_ = false;
  if (context_.setup.is_selective()) {
    lose_missing(sent_end_, sent_before, LossCause::kTimeOut);
  } else {
    go_back();
    if (keeps_sent_) {
      sent_.charge(oldest_, LossCause::kTimeOut);
    }
  }
}

// Without work requests nothing can tell of it but the state.
void RcRequester::give_up() {
  if (work_.empty()) {
    context_.fail();
  } else if (context_.state != QpState::kError) {
    fail(WorkStatus::kRetryExceeded);
  }
}

void RcRequester::end_rnr_wait() {
  waits_for_rnr_ = false;
}

// ---- completions

// The oldest work is done. [VB-5, 6]
void RcRequester::complete(WorkStatus status) {
  const Work& work = work_.front();
  const SendWork& request = work.request;
  const bool is_good = status == WorkStatus::kSuccess;
  if (request.is_signaled || !is_good) {
    context_.send_queue.push({request.id, context_.setup.number, status, false, request.opcode,
                              false, is_good ? work.bytes : 0, 0});
  }
  reads_out_ -= work.is_started && is_read_or_atomic(request.opcode) ? 1 : 0;
  work_.pop_front();
  if (next_ > 0) {
    --next_;
  } else {
    next_packet_ = 0;
  }
}

void RcRequester::fail(WorkStatus status) {
  complete(status);
  context_.fail();
}

void RcRequester::fail_if_due() {
  if (!work_.empty() && work_.front().failure != WorkStatus::kSuccess &&
      context_.state != QpState::kError) {
    fail(work_.front().failure);
  }
}

void RcRequester::flush() {
  while (!work_.empty()) {
    complete(WorkStatus::kFlushed);
  }
  oldest_ = sent_end_ = allotted_end_;
  waits_for_rnr_ = false;
  forget_sent();
}

}  // namespace flitwise
