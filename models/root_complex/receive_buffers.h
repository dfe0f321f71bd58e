// SPDX-License-Identifier: Apache-2.0
/// Receive buffers of a root port that stay in use after their packet was received, and so keep
/// its credits: of requests that queue up before the memory, and of those whose answers find no
/// room to go down.
#pragma once

#include <algorithm>
#include <deque>

#include "common/due_queue.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "root_complex/port_seams.h"

namespace flitwise {

class ReceiveBuffers {
 public:
  ReceiveBuffers(const HostConfig& host, PortWire& link)
      : bandwidth_gbps_(host.memory.bandwidth_gbps),
        memory_latency_(host.memory.timing.latency),
        link_(link),
        wakeup_("buffers", host.timing.clock) {
    wakeup_.wakes("release_buffers_process", [this] { work(); });
  }

  /// Where accesses queue up before the memory: true, and the buffer of this one, which reaches it
  /// at `arrival`, is held for as long as the queue is.
  bool hold_behind(Packet& packet, Time arrival) {
    if (bandwidth_gbps_ <= 0) {
      return false;
    }
    constexpr double kFsPerByteAt1Gbps = 8e6;
    const auto service =
        static_cast<std::int64_t>(packet.tlp.length_dw * 4 * kFsPerByteAt1Gbps / bandwidth_gbps_);
    const Time queued = memory_done_at_ - arrival - memory_latency_ - Time{service};
    if (queued <= Time{}) {
      return false;
    }
    last_until_ = std::max(last_until_, now() + queued);
    held_.add(PacketRef(&packet), last_until_);
    wakeup_.at(held_.next());
    return true;
  }
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
  void work() {
    wakeup_.taken();
    while (held_.is_due(now())) {
      link_.release(*held_.take());
    }
    wakeup_.at(held_.next());
  }

  const double bandwidth_gbps_;  // of memory; 0: it never stalls
  const Time memory_latency_;
  PortWire& link_;
  Wakeup wakeup_;
  DueQueue<PacketRef> held_;
  Time last_until_{};  // of these, in order
  std::deque<PacketRef> unanswered_;
  Time memory_done_at_{};
};

}  // namespace flitwise
