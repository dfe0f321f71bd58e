// SPDX-License-Identifier: Apache-2.0
/// The trace `pcapng`: every frame that leaves or reaches a network port, in the order of time
/// (docs/formats/pcapng.md). It watches; it never changes what it sees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/byte_vector.h"
#include "flitwise/time.h"
#include "network/frame.h"
#include "network/pcapng.h"
#include "trace/trace_file.h"

namespace flitwise {

class FrameCapture {
 public:
  /// So late after their time frames may be told of: more than any clock of a port.
  static constexpr Time kMostLate = Time::from_us(1);

  /// Throws std::system_error when the file cannot be made.
  explicit FrameCapture(const std::string& path);
  /// What it has been told of by then is in the file, as after flush().
  ~FrameCapture();
  FrameCapture(const FrameCapture&) = delete;
  FrameCapture& operator=(const FrameCapture&) = delete;

  /// Frames of other times are left out.
  void show_only(Time from, Time until) {
    from_ = from;
    until_ = until;
  }
  /// Its number. Before its first frame.
  std::uint32_t add(const CapturedPort& port);
  /// A number that no frame has had yet.
  std::uint64_t next_number() { return ++frames_; }
  /// What stands in the file for a frame at a port.
  void add(const CapturedFrame& frame, Time now);
  /// A frame has started on the wire at that port; its last byte leaves at `end`. Numbers it.
  void leaves(std::uint32_t port, Frame& frame, Time end, Time now);
  /// A frame comes to that port; its last byte is there at frame.last.
  void arrives(std::uint32_t port, const Frame& frame, Time now);
  /// All so far is kept; what has not come to its port by now is not part of it. Throws
  /// std::system_error where it could not be.
  void flush(Time now);

 private:
  // A block that waits for those of earlier times.
  struct Held {
    Time time;
    std::uint64_t order;
    bool is_inbound;
    ByteVector block;

    friend bool operator<(const Held& a, const Held& b) {  // of heaps: the latest first
      return a.time > b.time || (a.time == b.time && a.order > b.order);
    }
  };
  Held next();
  void write_held(Time now);

  TraceFile file_;
  std::vector<Held> held_;  // a heap
  ByteVector spare_;
  std::uint32_t ports_ = 0;
  std::uint64_t frames_ = 0, order_ = 0;
  Time now_{};
  Time from_{}, until_ = Time::never();
};

}  // namespace flitwise
