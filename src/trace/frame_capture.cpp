// SPDX-License-Identifier: Apache-2.0
#include "trace/frame_capture.h"

#include <algorithm>
#include <utility>

namespace flitwise {

FrameCapture::FrameCapture(const std::string& path) : file_(path) {
  ByteVector block;
  put_section(block, "flitwise " FLITWISE_VERSION);
  file_.write(block.data(), block.size());
}

FrameCapture::~FrameCapture() {
  write_held(now_);
}

std::uint32_t FrameCapture::add(const CapturedPort& port) {
  ByteVector block;
  put_port(block, port);
  file_.write(block.data(), block.size());
  return ports_++;
}

void FrameCapture::leaves(std::uint32_t port, Frame& frame, Time end, Time now) {
  frame.number = next_number();
  add({port, false, frame.number, end, frame.bytes.data(), frame.bytes.size()}, now);
}

void FrameCapture::arrives(std::uint32_t port, const Frame& frame, Time now) {
  add({port, true, frame.number, frame.last, frame.bytes.data(), frame.bytes.size()}, now);
}

void FrameCapture::add(const CapturedFrame& frame, Time now) {
  now_ = now;
  if (frame.time < from_ || frame.time > until_) {
    return;
  }
  while (!held_.empty() && held_.front().time + kMostLate <= now) {
    spare_ = next().block;
    file_.write(spare_.data(), spare_.size());
  }
  spare_.clear();
  put_frame(spare_, frame);
  held_.push_back({frame.time, order_++, frame.is_inbound, std::move(spare_)});
  std::push_heap(held_.begin(), held_.end());
}

FrameCapture::Held FrameCapture::next() {
  std::pop_heap(held_.begin(), held_.end());
  Held first = std::move(held_.back());
  held_.pop_back();
  return first;
}

void FrameCapture::write_held(Time now) {
  std::vector<Held> on_wire;
  while (!held_.empty()) {
    Held first = next();
    if (first.is_inbound && first.time > now) {
      on_wire.push_back(std::move(first));
    } else {
      file_.write(first.block.data(), first.block.size());
    }
  }
  held_ = std::move(on_wire);  // by time, as a heap may be
}

void FrameCapture::flush(Time now) {
  write_held(now);
  file_.flush();
}

}  // namespace flitwise
