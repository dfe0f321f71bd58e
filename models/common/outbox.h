// SPDX-License-Identifier: Apache-2.0
/// The pipeline between a function shell and its link: packets in order, each ready after its
/// latency.
#pragma once

#include <boost/circular_buffer.hpp>

#include "common/ranges.h"
#include "dhi/device_handle_table.h"
#include "flitwise/link_socket.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "stats/wait_book.h"

namespace flitwise {

class Outbox {
 public:
  struct Entry {
    PacketRef packet;
    Time ready{};          ///< when it leaves the port's pipeline
    HandlePin posted_pin;  ///< if any: the handle table hears of it when the packet is sent
  };

  explicit Outbox(std::size_t depth) : entries_(depth) {}

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// Is there a packet of which this is true?
  template <class Condition>
  bool has(Condition condition) const {
    return any_of(entries_, [&](const Entry& entry) { return condition(*entry.packet); });
  }

  /// Hands the entry to the link at once (it arrives there when it is ready, and not before those
  /// sent earlier), or keeps it behind the others. bool hand_over(const Entry&): false, sent away.
  template <class HandOver>
  void send(Entry entry, HandOver&& hand_over) {
    last_ready_ = entry.ready < last_ready_ ? last_ready_ : entry.ready;
    entry.ready = last_ready_;
    if (entries_.empty() && hand_over(entry)) {
      return;
    }
    make_room(entries_);
    entries_.push_back(std::move(entry));
  }

  /// There is room again.
  template <class HandOver>
  void drain(HandOver&& hand_over) {
    while (!entries_.empty() && hand_over(entries_.front())) {
      waits_.add(entries_.front().ready, now());
      entries_.pop_front();
    }
  }

  /// Nothing of this leaves any more: its waits are over.
  void clear() {
    for (const Entry& entry : entries_) {
      waits_.add(entry.ready, now());
    }
    entries_.clear();
    last_ready_ = Time{};
  }

  /// Waits for room in the link's queues.
  WaitBook& waits() { return waits_; }
  const WaitBook& waits() const { return waits_; }

 private:
  boost::circular_buffer<Entry> entries_;
  Time last_ready_{};
  WaitBook waits_;
};

}  // namespace flitwise
