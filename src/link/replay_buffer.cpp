// SPDX-License-Identifier: Apache-2.0
// Transmit half of the Ack/Nak protocol.
#include "link/replay_buffer.h"

#include <algorithm>

namespace flitwise {
namespace {
constexpr std::uint32_t kWindow = 2048;        // [LNK-7.2]
constexpr std::uint32_t kReplayNumStates = 4;  // two bits [LNK-7.14]

constexpr std::uint32_t distance(std::uint32_t from, std::uint32_t to) {
  return (to - from) & kSequenceMask;
}
}  // namespace

ReplayBuffer::ReplayBuffer(std::uint64_t capacity_bytes, Time timeout)
    : capacity_(capacity_bytes), timeout_(timeout), entries_(kWindow) {}

bool ReplayBuffer::has_room(std::uint32_t bytes) const {
  return distance(acked_, next_sequence_) < kWindow && used_ + bytes <= capacity_;
}

std::uint16_t ReplayBuffer::push(PacketRef packet, std::uint32_t bytes) {
  const bool replaying = is_replaying();
  entries_.push_back({std::move(packet), bytes});
  used_ += bytes;
  if (!replaying) {
    replay_next_ = entries_.size();
  }
  const std::uint16_t sequence = next_sequence_;
  next_sequence_ = (next_sequence_ + 1) & kSequenceMask;
  return sequence;
}

ReplayBuffer::Outcome ReplayBuffer::acknowledge(std::uint16_t sequence, Time now) {
  if (distance(sequence, next_sequence_ - 1U) >= kWindow || distance(acked_, sequence) >= kWindow) {
    return {false, 0};
  }
  const std::uint32_t freed = distance(acked_, sequence);
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

void ReplayBuffer::start_replay() {
  deadline_ = Time::never();
  if (!entries_.empty() && replay_next_ > 0) {  // not one that has yet to begin
    ++replay_events_;
  }
  replay_next_ = 0;
}

ReplayBuffer::Replay ReplayBuffer::next_replay() {
  const auto sequence = static_cast<std::uint16_t>((acked_ + 1U + replay_next_) & kSequenceMask);
  return {entries_[replay_next_++].packet, sequence};
}

void ReplayBuffer::sent(Time last) {
  if (deadline_ == Time::never() && !entries_.empty()) {
    deadline_ = last + timeout_;
  }
}

bool ReplayBuffer::expire() {
  replay_num_ = (replay_num_ + 1) % kReplayNumStates;
  start_replay();
  return replay_num_ == 0;
}

void ReplayBuffer::reset(std::vector<PacketRef>& given_up) {
  for (Entry& entry : entries_) {
    given_up.push_back(std::move(entry.packet));
  }
  const std::uint64_t so_far = replay_events_;
  *this = ReplayBuffer(capacity_, timeout_);
  replay_events_ = so_far;
}

}  // namespace flitwise
