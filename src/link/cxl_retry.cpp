// SPDX-License-Identifier: Apache-2.0
// Link layer retry of 68-byte flits.
#include "link/cxl_retry.h"

#include <algorithm>

namespace flitwise {

bool CxlRetryBuffer::acknowledge(unsigned count) {
  if (acked_ + count > flits_.size()) {
    return false;
  }
  acked_ += count;
  forget_acked();
  return true;
}

// A replay that was announced goes on from where it was to begin, whatever has arrived meanwhile.
void CxlRetryBuffer::forget_acked() {
  const std::size_t count = std::min(acked_, flits_.size() - replay_left_);
  flits_.erase_begin(count);
  acked_ -= count;
  first_ = static_cast<std::uint8_t>(first_ + count);
}

PacketRef CxlRetryBuffer::next_replay() {
  PacketRef flit = flits_[flits_.size() - replay_left_];
  --replay_left_;
  forget_acked();
  return flit;
}

bool CxlRetryBuffer::start_replay(std::uint8_t first) {
  const auto before = static_cast<std::uint8_t>(first - first_);
  if (before > flits_.size()) {
    return false;
  }
  replay_left_ = flits_.size() - before;
  return true;
}

void CxlRetryRequester::damaged() {
  repeated_ = 0;
  if (state_ == State::kNormal) {
    state_ = State::kAsking;
    frames_left_ = kRetryFrames;
  }
}

bool CxlRetryRequester::accepts() {
  if (state_ != State::kNormal) {
    return false;
  }
  if (repeated_ > 0) {
    --repeated_;
    return false;
  }
  ++expected_;
  return true;
}

void CxlRetryRequester::answered(std::uint8_t first) {
  if (state_ == State::kNormal) {
    repeated_ = static_cast<std::uint8_t>(expected_ - first);
    return;
  }
  if (first == expected_) {
    state_ = State::kNormal;
    frames_left_ = 0;
    deadline_ = Time::never();
    asked_ = 0;
  }
}

CxlRetryRequester::Ask CxlRetryRequester::take(Time now) {
  if (state_ == State::kWaiting) {
    state_ = State::kAsking;
    frames_left_ = kRetryFrames;
    deadline_ = Time::never();
  }
  if (frames_left_ > 0) {
    --frames_left_;
    return {false, expected_};
  }
  state_ = State::kWaiting;
  deadline_ = now + timeout_;
  if (++asked_ > kMostRetries) {
    asked_ = 0;
    wants_recovery_ = true;
  }
  return {true, expected_};
}

}  // namespace flitwise
