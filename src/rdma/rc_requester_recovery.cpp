// SPDX-License-Identifier: Apache-2.0
// What a requester finds to be lost, and sends again: that alone. [LR-2]
#include "rdma/rc_requester.h"

#include <algorithm>

namespace flitwise {

void RcRequester::forget_sent() {
  sent_.reset(oldest_);
  processed_ = oldest_;
  answers_ = 0;
  gap_due_ = Time::never();
}

// REQUIRES: the PSN is one of a work request that has begun.
RcRequester::Work& RcRequester::work_of(Psn psn) {
  std::size_t low = 0, high = std::min(next_ + 1, work_.size());
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    const bool is_behind = !work_[middle].is_started || work_[middle].packets == 0 ||
                           psn_distance(psn, work_[middle].first) < 0;
    (is_behind ? high : low) = middle;
  }
  return work_[low];
}

// ---- out

// The oldest packet that is to be sent again. Of a READ what is missing up to the next answer that
// has come.
bool RcRequester::next_again(RdmaPacket& packet) {
  while (sent_.has_again() && is_one_of(context_.state, kSendingStates) && !waits_for_rnr_) {
    const Psn psn = sent_.first_again();
    sent_.take_again(psn);
    Work& work = work_of(psn);
    const std::uint32_t index = (psn - work.first) & kPsnMask;
    if (work.failure != WorkStatus::kSuccess || !make(work, index, packet)) {
      continue;
    }
    if (work.request.opcode == WorkOpcode::kRead) {
      const Psn end = sent_.arrived().first_in(psn, psn_plus(work.first, work.packets));
      const std::uint64_t bytes = std::uint64_t{(end - psn) & kPsnMask} * context_.setup.mtu;
      packet.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(packet.length, bytes));
      sent_.take_again(psn, end);
    }
    packet.asks_for_ack = !is_read_or_atomic(work.request.opcode);
    context_.count(QpCounter::kResent);
    return true;
  }
  return false;
}

// ---- losses

// What the peer is not known to have, a visit for each packet; of a READ for each hole. REQUIRES:
// all up to the end have been sent.
template <class Visit>
void RcRequester::for_each_missing(Psn from, Psn end, Visit visit) {
  Psn psn = from;
  while (psn_distance(end, psn) > 0) {
    const Work& work = work_of(psn);
    const Psn work_end = psn_plus(work.first, work.packets);
    const Psn limit = psn_distance(end, work_end) > 0 ? work_end : end;
    const bool reads = work.request.opcode == WorkOpcode::kRead;
    psn = sent_.arrived().first_missing(psn, limit);
    while (psn != limit) {
      visit(psn);
      const Psn next = psn_plus(psn, 1);
      psn = sent_.arrived().first_missing(reads ? sent_.arrived().first_in(next, limit) : next,
                                          limit);
    }
  }
}

void RcRequester::lose_missing(Psn end, Time sent_before, LossCause cause) {
  sent_.forget_arrival(oldest_);  // or the peer would have told of it
  for_each_missing(oldest_, end, [&](Psn psn) {
    const SentPacket* const sent = sent_.find(psn);
    if (psn == oldest_ || sent == nullptr || sent->at < sent_before) {
      sent_.lose(psn, cause);
    }
  });
}

void RcRequester::repeat_missing(Psn from) {
  for_each_missing(from, sent_end_, [&](Psn psn) { sent_.repeat(psn); });
}

void RcRequester::resend(std::uint16_t session) {
  if (!keeps_sent_ || !is_one_of(context_.state, kSendingStates)) {
    return;
  }
  // A requester that has gone back sends the rest again anyway.
  const Psn end = psn_distance(sent_end_, next_psn()) > 0 ? next_psn() : sent_end_;
  for_each_missing(oldest_, end, [&](Psn psn) {
    const SentPacket* const sent = sent_.find(psn);
    if (sent != nullptr && sent->session == session) {
      sent_.lose(psn, LossCause::kSession);
    }
  });
}

// The packet alone; with a bitmap all holes in it that are not on their way again. [LR-2] [RX-6]
void RcRequester::take_nak(const RdmaPacket& packet) {
  if (!context_.setup.is_selective()) {
    if (!has_gone_back_) {
      go_back();
      if (keeps_sent_) {
        sent_.charge(packet.psn, LossCause::kNak);
      }
    }
    has_gone_back_ = true;
    return;
  }
  sent_.forget_arrival(packet.psn);
  sent_.lose(packet.psn, LossCause::kNak);
  const Psn first = psn_plus(packet.psn, 1);
  if (packet.has_sack && packet.sack != 0) {
    const auto highest = static_cast<std::uint32_t>(63 - __builtin_clzll(packet.sack));
    lose_holes(first, psn_plus(first, highest), LossCause::kSack, 1);
  }
  if (context_.setup.finds_holes) {
    lose_holes(first, sent_.arrived().end(), LossCause::kEcho, 0);
  }
}

// Those that have not left within a gap time, or so often at most: others are on their way. A peer
// may tell of packets that were never sent.
void RcRequester::lose_holes(Psn from, Psn end, LossCause cause, unsigned most_times) {
  const Psn last = psn_distance(end, sent_end_) > 0 ? sent_end_ : end;
  for_each_missing(from, last, [&](Psn psn) {
    const SentPacket* const sent = sent_.find(psn);
    const bool is_under_way = sent != nullptr && sent->times > most_times &&
                              sent->at + context_.setup.gap_time > context_.now;
    if (sent != nullptr && sent->is_answered == 0 && !is_under_way) {
      sent_.lose(psn, cause);
    }
  });
}

void RcRequester::expire_gap() {
  if (gap_due_ > context_.now) {
    return;
  }
  for_each_missing(oldest_, gap_end_, [&](Psn psn) {
    if (is_read_or_atomic(work_of(psn).request.opcode) && sent_.lose(psn, LossCause::kAnswer)) {
      context_.count(QpCounter::kLostAnswer);
    }
  });
  gap_due_ = context_.now + context_.setup.gap_time;
  gap_end_ = sent_.arrived().end();
}

void RcRequester::probe(RdmaPacket& packet) const {
  begin_packet(packet);
  packet.opcode = RdmaOpcode::kWriteOnly;
  packet.psn = psn_plus(oldest_, kPsnMask);
  packet.asks_for_ack = true;
}

}  // namespace flitwise
