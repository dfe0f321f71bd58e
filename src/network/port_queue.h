// SPDX-License-Identifier: Apache-2.0
/// The output queue of a switch port: one FIFO, bounded in bytes. A frame has its room from when
/// all of it is there until its last bit has left.
#pragma once

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/ranges.h"
#include "flitwise/time.h"
#include "network/frame.h"

namespace flitwise {

class PortQueue {
 public:
  explicit PortQueue(std::uint64_t room) : room_(room) {}

  /// All of the frame is there, and it may leave from `ready` on, no sooner than those before it.
  /// False: it has no room, and is dropped.
  bool push(FrameRef frame, Time ready, Time now) {
    const std::uint64_t used = used_bytes(now) + frame->wire_bytes;
    if (used > room_) {
      return false;
    }
    peak_ = std::max(peak_, used);
    waiting_bytes_ += frame->wire_bytes;
    make_room(waiting_);
    waiting_.push_back({std::move(frame), ready});
    return true;
  }
  /// When the first frame may start: the wire is free, and it is ready; never where there is none.
  Time next() const { return waiting_.empty() ? Time::never() : std::max(ready(), free_at_); }
  /// When it was ready. REQUIRES, here and below: next() is not never.
  Time ready() const { return waiting_.front().ready; }
  /// The first frame starts now, and leaves in `span`.
  FrameRef start(Time now, Time span) {
    FrameRef frame = std::move(waiting_.front().frame);
    waiting_.pop_front();
    waiting_bytes_ -= frame->wire_bytes;
    leaving_bytes_ = frame->wire_bytes;
    free_at_ = now + span;
    return frame;
  }
  const Frame& front() const { return *waiting_.front().frame; }

  std::size_t waiting() const { return waiting_.size(); }  ///< frames
  std::uint64_t used_bytes(Time now) const {
    return waiting_bytes_ + (free_at_ > now ? leaving_bytes_ : 0);
  }
  Time free_at() const { return free_at_; }  ///< of the wire
  std::uint64_t peak() const { return peak_; }
  void start_window(Time now) { peak_ = used_bytes(now); }

 private:
  struct Waiting {
    FrameRef frame;
    Time ready{};
  };
  static constexpr std::size_t kDepth = 64;  // grows

  const std::uint64_t room_;
  boost::circular_buffer<Waiting> waiting_ = boost::circular_buffer<Waiting>(kDepth);
  std::uint64_t waiting_bytes_ = 0, leaving_bytes_ = 0, peak_ = 0;
  Time free_at_{};
};

}  // namespace flitwise
