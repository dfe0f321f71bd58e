// SPDX-License-Identifier: Apache-2.0
/// Receive buffers of a root port that stay in use after their packet was received, and so keep
/// its credits: of requests that queue up before the memory, and of those whose answers find no
/// room to go down.
#pragma once

#include <deque>

#include "common/wakeup.h"
#include "flitwise/config.h"
#include "root_complex/port_seams.h"

namespace flitwise {

class ReceiveBuffers {
 public:
  ReceiveBuffers(const HostConfig& host, PortWire& link);

  /// Where accesses queue up before the memory: true, and the buffer of this one, which reaches it
  /// at `arrival`, is held for as long as the queue is.
  bool hold_behind(Packet& packet, Time arrival);
  /// The access that was submitted last is done at `when`.
  void memory_done(Time when) { memory_done_at_ = when; }
  /// Until answers can be sent again.
  void hold_for_answers(Packet& packet) { unanswered_.emplace_back(&packet); }
  /// takes(): there is room for another answer.
  template <class Takes>
  void release_answered(Takes takes) {
    while (!unanswered_.empty() && takes()) {
      const PacketRef packet = std::move(unanswered_.front());
      unanswered_.pop_front();
      link_.release(*packet);
    }
  }
  bool is_empty() const { return held_.empty() && unanswered_.empty(); }

 private:
  struct Held {
    PacketRef packet;
    Time until;
  };
  void work();

  const double bandwidth_gbps_;  // of memory; 0: it never stalls
  const Time memory_latency_;
  PortWire& link_;
  Wakeup wakeup_;
  std::deque<Held> held_;
  std::deque<PacketRef> unanswered_;
  Time memory_done_at_{};
};

}  // namespace flitwise
