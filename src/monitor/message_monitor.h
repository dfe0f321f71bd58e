// SPDX-License-Identifier: Apache-2.0
/// All monitors of the messages of CXL.cache and CXL.mem on one link, for both directions: order,
/// ids and answers, credits (docs/monitors.md). [CXL-3.1]
#pragma once

#include <array>

#include "flitwise/flit.h"
#include "monitor/message_credit_monitor.h"
#include "monitor/message_id_monitor.h"
#include "monitor/message_order_monitor.h"
#include "monitor/packet_ring.h"

namespace flitwise {

/// Ends by index as in LinkMonitor: 0 upstream, 1 downstream.
class MessageMonitor {
 public:
  /// `has_states`: of the memory below. [COH-5.3]
  MessageMonitor(ViolationLog& log, bool has_states)
      : order_(Reporter(log, true), Reporter(log, false)),
        ids_(Reporter(log, true), Reporter(log, false), has_states),
        credits_{MessageCreditMonitor(Reporter(log, false)),
                 MessageCreditMonitor(Reporter(log, true))} {}

  /// The queues of an end have taken a message.
  void queued(const Packet& message) { order_.queued(message); }
  /// A flit goes for the first time. `is_numbered`: it is a 256-byte flit.
  void sent(std::size_t end, const Packet& flit, bool is_numbered, Time now) {
    if (!is_numbered && flit.flit->cxl.control == CxlFlitHeader::Control::kNone) {
      awaited_[end].push(flit, 0);
    }
    for (const PacketRef& message : flit.flit->starts) {
      order_.sent(*message, now);
      credits_[end].sent(*message, now);
      ids_.sent(*message, now);
    }
  }
  /// A 68-byte flit has come to an end undamaged: it counts if it is the next that has not come
  /// yet. Those that are sent again after damage come behind the one that was missing. [CXL-3.6]
  void arrived(std::size_t end, const Packet& flit) {
    const CxlFlitHeader& header = flit.flit->cxl;
    PacketRing& awaited = awaited_[1 - end];
    if (header.control == CxlFlitHeader::Control::kNone) {
      if (awaited.size() == 0 || !awaited.starts_with(flit, 0)) {
        return;
      }
      awaited.pop();
    }
    credits_[end].told(header);
  }
  /// A 256-byte flit counts at an end. [CXL-6.2]
  void accepted(std::size_t end, const Flit& flit) { credits_[end].told(flit.cxl); }
  void delivered(const Packet& message, Time now) {
    order_.delivered(message, now);
    ids_.delivered(message);
  }
  /// The link has gone down: nothing is on its way, and nothing will be answered. [CXL-3.9]
  void reset() {
    order_.reset();
    ids_.reset();
    for (std::size_t end = 0; end < credits_.size(); ++end) {
      credits_[end].reset();
      awaited_[end] = PacketRing();
    }
  }

 private:
  MessageOrderMonitor order_;
  MessageIdMonitor ids_;
  std::array<MessageCreditMonitor, 2> credits_;  // of messages that an end sends
  std::array<PacketRing, 2> awaited_;            // 68-byte flits that an end has sent
};

}  // namespace flitwise
