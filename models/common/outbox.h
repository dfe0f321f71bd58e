// SPDX-License-Identifier: Apache-2.0
/// The pipeline between a function shell and its link: packets in order, each ready after its
/// latency.
#pragma once

#include <boost/circular_buffer.hpp>

#include <optional>

#include "dhi/device_handle_table.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"

namespace flitwise {

class Outbox {
 public:
  struct Entry {
    PacketRef packet;
    Time ready{};
    std::optional<HandlePin>
        posted_pin;  ///< to be told to the handle table when the packet is sent
  };

  explicit Outbox(std::size_t depth) : entries_(depth) {}

  /// Places left of the depth; push() beyond it makes more.
  std::size_t room() const { return entries_.capacity() - entries_.size(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const Entry& front() const { return entries_.front(); }
  void pop() { entries_.pop_front(); }
  /// Behind all others, and not before them.
  void push(Entry entry) {
    last_ready_ = entry.ready < last_ready_ ? last_ready_ : entry.ready;
    entry.ready = last_ready_;
    if (entries_.full()) {
      entries_.set_capacity(entries_.capacity() * 2);
    }
    entries_.push_back(std::move(entry));
  }

 private:
  boost::circular_buffer<Entry> entries_;
  Time last_ready_{};
};

}  // namespace flitwise
