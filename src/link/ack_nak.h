// SPDX-License-Identifier: Apache-2.0
/// The Ack/Nak protocol, the same for TLPs and, in flit mode, for flits. Receive half: what is
/// taken, and which Ack or Nak is owed. Transmit half: sequence numbers, what is not acknowledged
/// yet, and what is to be sent again. [LNK-7.1] [LNK-11.6]
#pragma once

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstdint>

#include "flitwise/dllp.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"

namespace flitwise {

/// Sequence numbers of TLPs or of flits, in a ring; at most half of them are open at a time.
class SequenceSpace {
 public:
  constexpr SequenceSpace(std::uint16_t first, std::uint16_t last) : first_(first), last_(last) {}
  /// 0 to 4095. [LNK-7.1]
  static constexpr SequenceSpace of_tlps() { return SequenceSpace(0, 4095); }
  /// 1 to 1023: 0 is reserved, and IDLE flits have it. [LNK-11.6]
  static constexpr SequenceSpace of_flits() { return SequenceSpace(1, 1023); }

  constexpr std::uint16_t first() const { return first_; }
  constexpr std::uint16_t last() const { return last_; }
  constexpr std::uint32_t count() const { return last_ - first_ + 1U; }
  /// So many numbers may be open, less one: 2048 of TLPs, 512 of flits. [LNK-7.2] [LNK-11.6]
  constexpr std::uint32_t window() const { return (count() + 1) / 2; }
  constexpr bool contains(std::uint32_t number) const {
    return number >= first_ && number <= last_;
  }

  constexpr std::uint16_t next(std::uint16_t number) const {
    return number == last_ ? first_ : static_cast<std::uint16_t>(number + 1U);
  }
  constexpr std::uint16_t before(std::uint16_t number) const {
    return number == first_ ? last_ : static_cast<std::uint16_t>(number - 1U);
  }
  /// REQUIRES: steps < count().
  constexpr std::uint16_t plus(std::uint16_t number, std::uint32_t steps) const {
    const std::uint32_t sum = number + steps;
    return static_cast<std::uint16_t>(sum > last_ ? sum - count() : sum);
  }
  /// Steps from one number on to another. REQUIRES: contains() both.
  constexpr std::uint32_t distance(std::uint16_t from, std::uint16_t to) const {
    return to >= from ? static_cast<std::uint32_t>(to - from) : to + count() - from;
  }

 private:
  std::uint16_t first_, last_;
};

class AckNakReceiver {
 public:
  /// `limit`: Ack latency limit; `coalesce`: Ack after so many TLPs at the latest, 0: by the limit
  /// alone. [LNK-7.15]
  AckNakReceiver(Time limit, unsigned coalesce, SequenceSpace numbers = SequenceSpace::of_tlps())
      : numbers_(numbers), limit_(limit), coalesce_(coalesce), next_sequence_(numbers.first()) {}

  enum class Verdict : std::uint8_t { kAccepted, kDamaged, kDuplicate, kOutOfSequence };
  /// Steps 1 to 4 for one TLP. [LNK-7.4, LNK-7.5, LNK-7.6, LNK-7.7]
  Verdict receive(std::uint16_t sequence, bool is_damaged, Time now) {
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

  /// Is it the one that is taken next?
  bool expects(std::uint16_t sequence) const { return sequence == next_sequence_; }

  /// When the next Ack or Nak is due; never if none is owed.
  Time deadline() const { return due_; }
  struct Owed {
    bool is_nak;
    std::uint16_t sequence;
  };
  /// What is owed, due or not; it counts as sent. REQUIRES: something is owed.
  Owed take() {
    const Owed owed{nak_owed_, numbers_.before(next_sequence_)};
    nak_owed_ = false;
    unacknowledged_ = 0;
    due_ = Time::never();
    return owed;
  }
  /// What take() gave is damaged on its way: it is owed again, a Nak only where it still counts.
  void owe_again(Time now) {
    nak_owed_ = nak_scheduled_;
    due_ = now;
  }
  /// The link has gone down: the next TLP has the first sequence number. [LNK-10.7]
  void reset() {
    next_sequence_ = numbers_.first();
    nak_scheduled_ = nak_owed_ = false;
    unacknowledged_ = 0;
    due_ = Time::never();
  }

 private:
  void schedule_nak(Time now) {
    if (!nak_scheduled_) {
      nak_scheduled_ = true;
      nak_owed_ = true;
      due_ = now;
    }
  }

  SequenceSpace numbers_;
  Time limit_;
  unsigned coalesce_;
  std::uint16_t next_sequence_;  // NEXT_RCV_SEQ [LNK-7.1]
  bool nak_scheduled_ = false;   // NAK_SCHEDULED: no second Nak until a good TLP comes
  bool nak_owed_ = false;
  unsigned unacknowledged_ = 0;
  Time due_ = Time::never();
};

/// How REPLAY_NUM counts: each replay adds a step, and where the states are over it rolls over.
struct ReplayCount {
  unsigned states, step;
};
/// Two bits: the fourth replay without progress. [LNK-7.14]
inline constexpr ReplayCount kTlpReplayCount{4, 1};

class ReplayBuffer {
 public:
  /// Room for `capacity_bytes` of TLPs as they stand on the wire, or of flits. `timeout`: replay
  /// timer limit.
  ReplayBuffer(std::uint64_t capacity_bytes, Time timeout,
               SequenceSpace numbers = SequenceSpace::of_tlps(),
               ReplayCount count = kTlpReplayCount)
      : numbers_(numbers),
        count_(count),
        capacity_(capacity_bytes),
        timeout_(timeout),
        entries_(numbers.window()),
        next_sequence_(numbers.first()),
        acked_(numbers.last()) {}

  /// May another TLP of so many wire bytes be taken? [LNK-7.2, LNK-7.3]
  bool has_room(std::uint32_t bytes) const {
    return numbers_.distance(acked_, next_sequence_) < numbers_.window() &&
           used_ + bytes <= capacity_;
  }
  bool empty() const { return entries_.empty(); }
  /// A TLP leaves for the first time; returns its sequence number. REQUIRES: has_room(bytes).
  std::uint16_t push(PacketRef packet, std::uint32_t bytes) {
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

  /// An Ack or Nak came: what it covers is purged [LNK-7.9]. False: it is out of the window, and
  /// dropped [LNK-7.8].
  bool acknowledge(std::uint16_t sequence, Time now) {
    if (!numbers_.contains(sequence) ||
        numbers_.distance(sequence, numbers_.before(next_sequence_)) >= numbers_.window() ||
        numbers_.distance(acked_, sequence) >= numbers_.window()) {
      return false;
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
    return true;
  }

  /// A Nak came, or the replay timer ran out: all that is left goes out again, oldest first; true
  /// if REPLAY_NUM rolled over, which asks for Recovery. [LNK-7.10] [LNK-7.13] [LNK-7.14]
  bool start_replay() {
    if (!rewind()) {
      return false;
    }
    replay_num_ = (replay_num_ + count_.step) % count_.states;
    return replay_num_ == 0;
  }
  bool is_replaying() const { return replay_next_ < entries_.size(); }
  struct Replay {
    PacketRef packet;
    std::uint16_t sequence;
  };
  /// REQUIRES: is_replaying().
  Replay next_replay() {
    const std::uint16_t sequence =
        numbers_.plus(numbers_.next(acked_), static_cast<std::uint32_t>(replay_next_));
    return {entries_[replay_next_++].packet, sequence};
  }

  /// A TLP's last symbol leaves at `last`. [LNK-7.11, LNK-7.12]
  void sent(Time last) {
    if (deadline_ == Time::never() && !entries_.empty()) {
      deadline_ = last + timeout_;
    }
  }
  Time deadline() const { return deadline_; }
  /// Recovery is over: all of it again, timer held until the first has left. REPLAY_NUM counts
  /// attempts between two Recoveries, so not this one. [LNK-10.3]
  void recovered() { rewind(); }
  /// The link has gone down: nothing will be sent again, and the next TLP has the first sequence
  /// number. [LNK-10.4] [LNK-10.7]
  void reset() {
    entries_.clear();
    used_ = 0;
    replay_next_ = 0;
    next_sequence_ = numbers_.first();
    acked_ = numbers_.last();
    replay_num_ = 0;
    deadline_ = Time::never();
  }

  std::uint64_t replay_events() const { return replay_events_; }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PacketRef packet;
    std::uint32_t bytes;
  };
  // Is it a replay of its own, and not of one that has yet to begin?
  bool rewind() {
    const bool is_new = !entries_.empty() && replay_next_ > 0;
    deadline_ = Time::never();
    replay_events_ += is_new ? 1 : 0;
    replay_next_ = 0;
    return is_new;
  }

  SequenceSpace numbers_;
  ReplayCount count_;
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  Time timeout_;
  boost::circular_buffer<Entry> entries_;  // oldest first; its sequence is acked_ + 1
  std::size_t replay_next_ = 0;  // == size(): no replay; entries from here on wait to be sent again
  std::uint16_t next_sequence_;  // NEXT_TRANSMIT_SEQ [LNK-7.1]
  std::uint16_t acked_;          // ACKD_SEQ
  unsigned replay_num_ = 0;      // REPLAY_NUM
  Time deadline_ = Time::never();
  std::uint64_t replay_events_ = 0;
};

}  // namespace flitwise
