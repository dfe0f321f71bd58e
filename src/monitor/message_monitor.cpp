// SPDX-License-Identifier: Apache-2.0
// Messages out of their turn, and without a credit.
#include "monitor/message_monitor.h"

#include <fmt/format.h>

#include "cxl/channels.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kSnoop{"COH-1.5", "a snoop was delivered ahead of a GO queued before it"};

constexpr MonitoredRule kNoCredit{"CXL-3.1", "a message was sent without a credit of its class"};

}  // namespace

Reporter reporter_of(const Packet& message, ViolationLog& log) {
  return {log, info_of(message.cxl->channel).direction == CxlDirection::kUpstream};
}

struct MessageOrderMonitor::Turn {
  MonitoredRule overtakes, is_missing;
  const char* nowhere;
};
const MessageOrderMonitor::Turn MessageOrderMonitor::kSending = {
    {"COH-1.4", "a message was sent ahead of an older one"},
    {"COH-1.4", "a message was sent that nobody queued, or twice"},
    "none in the queue"};
const MessageOrderMonitor::Turn MessageOrderMonitor::kDelivery = {
    {"COH-1.4", "a message was delivered ahead of an older one"},
    {"COH-1.4", "a message was delivered that was not sent, or twice"},
    "none on the wire"};

void MessageOrderMonitor::out_of_turn(Channel& channel, const Packet& packet, std::uint64_t& first,
                                      std::uint64_t end, const Turn& turn, Time now) {
  const std::uint64_t index =
      channel.find(first, end, [&](const Slot& slot) { return slot.packet == &packet; });
  if (index == end) {
    reporter_of(packet, log_).report(turn.is_missing, now, packet, turn.nowhere);
    return;
  }
  reporter_of(packet, log_).report(turn.overtakes, now, packet, text_of(*channel.at(first).packet));
  channel.move_down(index, first++);
}

void MessageOrderMonitor::overtook(const Packet& snoop, std::uint64_t behind, Time now) {
  reporter_of(snoop, log_).report(kSnoop, now, snoop, text_of(*responses().at(behind - 1).packet));
}

void MessageOrderMonitor::reset() {
  for (Channel& channel : channels_) {
    channel.head = channel.sent = channel.tail = 0;
  }
  last_go_ = 0;
}

void MessageCreditMonitor::report(const Packet& packet, Time now) const {
  const bool is_mem = kPools[static_cast<std::size_t>(packet.cxl->channel)] >= kMemReq;
  const std::uint64_t* const left = &left_[is_mem ? kMemReq : kCacheReq];
  reporter_.report(kNoCredit, now, packet,
                   fmt::format("{} request, {} response and {} data credits of {} left", left[0],
                               left[1], left[2], is_mem ? "CXL.mem" : "CXL.cache"));
}

}  // namespace flitwise
