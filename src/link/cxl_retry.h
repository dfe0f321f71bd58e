// SPDX-License-Identifier: Apache-2.0
/// Link layer retry of 68-byte flits: the sender keeps flits until they are acknowledged, and the
/// receiver asks for them again where one has a wrong CRC. Flits have no numbers; both ends count
/// modulo 256. [CXL-3.5] [CXL-3.6]
#pragma once

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstdint>

#include "flitwise/packet.h"
#include "flitwise/time.h"

namespace flitwise {

/// RETRY.Frame flits before a RETRY.Req or RETRY.Ack. [CXL-3.6]
inline constexpr unsigned kRetryFrames = 5;
/// Requests without an answer after which the link goes through Recovery (PhyReinit): a register in
/// hardware, whose default is unverified. [CXL-3.7]
inline constexpr unsigned kMostRetries = 5;
/// Flits that Ak of a flit header acknowledges. [CXL-3.3]
inline constexpr unsigned kFlitsPerAk = 8;
/// Acknowledgements that do not wait for a flit that happens to go. [CXL-3.4]
inline constexpr unsigned kAcksForLlcrd = 16;

/// The sender's half (LLRB).
class CxlRetryBuffer {
 public:
  /// REQUIRES: 1 <= capacity <= 255.
  explicit CxlRetryBuffer(unsigned capacity) : flits_(capacity) {}

  bool has_room() const { return !flits_.full(); }
  bool empty() const { return flits_.empty(); }
  std::size_t size() const { return flits_.size(); }
  void push(PacketRef flit) { flits_.push_back(std::move(flit)); }
  /// So many more have arrived; false: more than were sent.
  bool acknowledge(unsigned count) {
    if (acked_ + count > flits_.size()) {
      return false;
    }
    acked_ += count;
    forget_acked();
    return true;
  }
  /// All from number `first` on go again; what was before it waits for its acknowledgement. False:
  /// there is no such flit.
  bool start_replay(std::uint8_t first) {
    const auto before = static_cast<std::uint8_t>(first - first_);
    if (before > flits_.size()) {
      return false;
    }
    replay_left_ = flits_.size() - before;
    return true;
  }
  bool is_replaying() const { return replay_left_ > 0; }
  /// REQUIRES: is_replaying().
  PacketRef next_replay() {
    PacketRef flit = flits_[flits_.size() - replay_left_];
    --replay_left_;
    forget_acked();
    return flit;
  }
  void reset() {
    flits_.clear();
    first_ = 0;
    replay_left_ = acked_ = 0;
  }

 private:
  // A replay that was announced goes on from where it was to begin, whatever has arrived meanwhile.
  void forget_acked() {
    const std::size_t count = std::min(acked_, flits_.size() - replay_left_);
    flits_.erase_begin(count);
    acked_ -= count;
    first_ = static_cast<std::uint8_t>(first_ + count);
  }

  boost::circular_buffer<PacketRef> flits_;
  std::uint8_t first_ = 0;  // number of the oldest
  std::size_t acked_ = 0;   // of those in a replay that are still to go again
  std::size_t replay_left_ = 0;
};

/// The receiver's half.
class CxlRetryRequester {
 public:
  explicit CxlRetryRequester(Time timeout) : timeout_(timeout) {}

  /// A flit has come with a wrong CRC, whatever it was.
  void damaged() {
    repeated_ = 0;
    if (state_ == State::kNormal) {
      state_ = State::kAsking;
      frames_left_ = kRetryFrames;
    }
  }
  /// A flit with messages or data has come, undamaged; is it taken?
  bool accepts() {
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
  /// RETRY.Ack has come: what follows begins with flit `first`. An answer that was not waited for
  /// any more has the sender begin anew: what has been taken already is passed over.
  void answered(std::uint8_t first) {
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

  /// A control flit is to go, or there has been no answer for too long.
  bool is_due(Time now) const { return state_ == State::kAsking || deadline_ <= now; }
  Time deadline() const { return state_ == State::kAsking ? Time{} : deadline_; }
  /// The next of RETRY.Frame and RETRY.Req. REQUIRES: is_due().
  struct Ask {
    bool is_request = false;  ///< the last of them; else a RETRY.Frame
    std::uint8_t first = 0;   ///< the flit that is wanted
  };
  Ask take(Time now) {
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
  /// True once after too many questions without an answer. [CXL-3.7]
  bool take_recovery_request() {
    const bool wants = wants_recovery_;
    wants_recovery_ = false;
    return wants;
  }
  bool is_normal() const { return state_ == State::kNormal; }
  void reset() { *this = CxlRetryRequester(timeout_); }

 private:
  enum class State : std::uint8_t { kNormal, kAsking, kWaiting };

  Time timeout_;
  State state_ = State::kNormal;
  std::uint8_t expected_ = 0;  // number of the next flit
  std::uint8_t repeated_ = 0;  // flits that will come again although they were taken
  unsigned frames_left_ = 0;
  unsigned asked_ = 0;  // in a row, without an answer
  bool wants_recovery_ = false;
  Time deadline_ = Time::never();
};

}  // namespace flitwise
