// SPDX-License-Identifier: Apache-2.0
/// What travels between network ports: the bytes of a packet, the lane whose receive buffer holds
/// it, and when it is at the other end. Counted references, pooled.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

class FramePool;

class Frame {
 public:
  /// Without what the port adds, such as a CRC; keeps its capacity in the pool.
  std::vector<std::uint8_t> bytes;
  std::uint32_t wire_bytes = 0;  ///< that the wire carries, and a receive buffer holds
  std::uint32_t source = 0;      ///< the sender's own number of who sent it
  unsigned lane = 0;
  Time last{};               ///< when its last byte is at the other end
  std::uint64_t number = 0;  ///< where frames are captured: its own

  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  friend class FramePool;
  friend void intrusive_ptr_add_ref(Frame* frame) { ++frame->references_; }
  friend void intrusive_ptr_release(Frame* frame);
  explicit Frame(FramePool& pool) : pool_(pool) {}

  FramePool& pool_;
  std::uint32_t references_ = 0;
};

using FrameRef = boost::intrusive_ptr<Frame>;

/// Owns every frame of a run. Must outlive all references.
class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// A frame with room for so many bytes, which are for the caller to fill: they are those of an
  /// older frame, and so are its other fields.
  FrameRef make(std::size_t bytes) {
    if (free_.empty()) {
      all_.push_back(std::unique_ptr<Frame>(new Frame(*this)));
      free_.push_back(all_.back().get());
    }
    FrameRef frame = free_.back();
    free_.pop_back();
    frame->bytes.resize(bytes);
    return frame;
  }
  std::size_t in_use() const { return all_.size() - free_.size(); }
  std::size_t allocated() const { return all_.size(); }

 private:
  friend void intrusive_ptr_release(Frame* frame);
  std::vector<std::unique_ptr<Frame>> all_;
  std::vector<Frame*> free_;
};

inline void intrusive_ptr_release(Frame* frame) {
  if (--frame->references_ == 0) {
    frame->pool_.free_.push_back(frame);
  }
}

}  // namespace flitwise
