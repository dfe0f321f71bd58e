// SPDX-License-Identifier: Apache-2.0
// Both halves of the Ack/Nak protocol.
#include "link/ack_nak.h"

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

ReplayBuffer::ReplayBuffer(std::uint64_t capacity_bytes, Time timeout, SequenceSpace numbers,
                           ReplayCount count)
    : numbers_(numbers),
      count_(count),
      capacity_(capacity_bytes),
      timeout_(timeout),
      entries_(numbers.window()),
      next_sequence_(numbers.first()),
      acked_(numbers.last()) {}

std::uint16_t ReplayBuffer::push(PacketRef packet, std::uint32_t bytes) {
  const bool replaying = is_replaying();
  entries_.push_back({std::move(packet), bytes});
  used_ += bytes;
  if (!replaying) {
    replay_next_ = entries_.size();
  }
  const std::uint16_t sequence = next_sequence_;
  next_sequence_ = numbers_.next(next_sequence_);
  return sequence;
}

ReplayBuffer::Outcome ReplayBuffer::acknowledge(std::uint16_t sequence, Time now) {
  if (!numbers_.contains(sequence) ||
      numbers_.distance(sequence, numbers_.before(next_sequence_)) >= numbers_.window() ||
      numbers_.distance(acked_, sequence) >= numbers_.window()) {
    return {false, 0};
  }
  const std::uint32_t freed = numbers_.distance(acked_, sequence);
  for (std::uint32_t i = 0; i < freed; ++i) {
    used_ -= entries_.front().bytes;
    entries_.pop_front();
  }
  replay_next_ -= std::min<std::size_t>(replay_next_, freed);
  acked_ = sequence;
  if (freed > 0) {
    replay_num_ = 0;
    // Held until the first TLP of a replay has left. [LNK-7.12]
    const bool is_held = is_replaying() && replay_next_ == 0;
    deadline_ = entries_.empty() || is_held ? Time::never() : now + timeout_;
  }
  return {true, freed};
}

// Is it a replay of its own, and not of one that has yet to begin?
bool ReplayBuffer::rewind() {
  const bool is_new = !entries_.empty() && replay_next_ > 0;
  deadline_ = Time::never();
  replay_events_ += is_new ? 1 : 0;
  replay_next_ = 0;
  return is_new;
}

bool ReplayBuffer::start_replay() {
  if (!rewind()) {
    return false;
  }
  replay_num_ = (replay_num_ + count_.step) % count_.states;
  return replay_num_ == 0;
}

void ReplayBuffer::reset() {
  entries_.clear();
  used_ = 0;
  replay_next_ = 0;
  next_sequence_ = numbers_.first();
  acked_ = numbers_.last();
  replay_num_ = 0;
  deadline_ = Time::never();
}

}  // namespace flitwise
