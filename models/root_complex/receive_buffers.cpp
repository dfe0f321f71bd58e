// SPDX-License-Identifier: Apache-2.0
// Receive buffers behind the memory.
#include "root_complex/receive_buffers.h"

#include <algorithm>

namespace flitwise {

ReceiveBuffers::ReceiveBuffers(const HostConfig& host, PortWire& link)
    : bandwidth_gbps_(host.memory.bandwidth_gbps),
      memory_latency_(host.memory.timing.latency),
      link_(link),
      wakeup_("buffers", host.timing.clock) {
  wakeup_.wakes("release_buffers_process", [this] { work(); });
}

bool ReceiveBuffers::hold_behind(Packet& packet, Time arrival) {
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
  const Time until = now() + queued;
  held_.push_back(
      {PacketRef(&packet), held_.empty() ? until : std::max(until, held_.back().until)});
  wakeup_.at(held_.front().until);
  return true;
}

void ReceiveBuffers::work() {
  wakeup_.taken();
  while (!held_.empty() && held_.front().until <= now()) {
    const PacketRef packet = std::move(held_.front().packet);
    held_.pop_front();
    link_.release(*packet);
  }
  if (!held_.empty()) {
    wakeup_.at(held_.front().until);
  }
}

}  // namespace flitwise
