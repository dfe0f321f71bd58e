// SPDX-License-Identifier: Apache-2.0
// Receive half of the Ack/Nak protocol.
#include "link/ack_nak_receiver.h"

#include <algorithm>

namespace flitwise {

void AckNakReceiver::schedule_nak(Time now) {
  if (!nak_scheduled_) {
    nak_scheduled_ = true;
    nak_owed_ = true;
    due_ = now;
  }
}

AckNakReceiver::Verdict AckNakReceiver::receive(std::uint16_t sequence, bool is_damaged, Time now) {
  // Step 1: damaged. [LNK-7.4]
  if (is_damaged) {
    schedule_nak(now);
    return Verdict::kDamaged;
  }
  // Step 2: the one expected. [LNK-7.5]
  if (sequence == next_sequence_) {
    next_sequence_ = numbers_.next(next_sequence_);
    nak_scheduled_ = false;
    nak_owed_ = false;
    ++unacknowledged_;
    const bool due_now = coalesce_ > 0 && unacknowledged_ >= coalesce_;
    due_ = due_now ? std::min(due_, now) : std::min(due_, now + limit_);
    return Verdict::kAccepted;
  }
  // The reserved number, which no sender may use: dropped, and no Nak. [LNK-11.6]
  if (!numbers_.contains(sequence)) {
    return Verdict::kOutOfSequence;
  }
  // Step 3: seen before. [LNK-7.6]
  if (numbers_.distance(sequence, next_sequence_) < numbers_.window()) {
    due_ = now;
    return Verdict::kDuplicate;
  }
  // Step 4: one is missing. [LNK-7.7]
  schedule_nak(now);
  return Verdict::kOutOfSequence;
}

void AckNakReceiver::reset() {
  next_sequence_ = numbers_.first();
  nak_scheduled_ = nak_owed_ = false;
  unacknowledged_ = 0;
  due_ = Time::never();
}

AckNakReceiver::Owed AckNakReceiver::take() {
  const Owed owed{nak_owed_, numbers_.before(next_sequence_)};
  nak_owed_ = false;
  unacknowledged_ = 0;
  due_ = Time::never();
  return owed;
}

}  // namespace flitwise
