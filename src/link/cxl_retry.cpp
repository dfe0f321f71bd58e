// SPDX-License-Identifier: Apache-2.0
// Link layer retry of 68-byte flits.
#include "link/cxl_retry.h"

namespace flitwise {

bool CxlRetryBuffer::acknowledge(unsigned count) {
  const std::size_t sent = flits_.size() - replay_left_;
  if (count > sent) {
    return false;
  }
  flits_.erase_begin(count);
  first_ = static_cast<std::uint8_t>(first_ + count);
  return true;
}

bool CxlRetryBuffer::start_replay(std::uint8_t first) {
  const auto before = static_cast<std::uint8_t>(first - first_);
  if (before > flits_.size()) {
    return false;
  }
  replay_left_ = flits_.size() - before;
  return true;
}

void CxlRetryBuffer::reset() {
  flits_.clear();
  first_ = 0;
  replay_left_ = 0;
}

void CxlRetryRequester::damaged() {
  if (state_ == State::kNormal) {
    state_ = State::kAsking;
    frames_left_ = kRetryFrames;
  }
}

bool CxlRetryRequester::accepts() {
  if (state_ != State::kNormal) {
    return false;
  }
  ++expected_;
  return true;
}

bool CxlRetryRequester::answered(std::uint8_t first) {
  if (state_ != State::kWaiting) {
    return true;
  }
  if (first != expected_) {
    return false;
  }
  state_ = State::kNormal;
  deadline_ = Time::never();
  asked_ = 0;
  return true;
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

bool CxlRetryRequester::take_recovery_request() {
  const bool wants = wants_recovery_;
  wants_recovery_ = false;
  return wants;
}

}  // namespace flitwise
