// SPDX-License-Identifier: Apache-2.0
// One root port: messages that have come up.
#include "root_complex/root_port.h"
#include "tlp/message_use.h"

namespace flitwise {

void RootPort::receive_message(Packet& packet, Time t) {
  if (is_dhi_message(packet.tlp)) {
    ++counters_.handle_messages;
    observe("message", "", packet);
    const DeviceBelow& device = device_of(packet.tlp.requester_id);
    const Time stored =
        device.handles->receive(packet, buses_, device.wants_alloc_ack, t, answers_);
    queue_answers(packet, stored);
  } else if (config_.host.requester_check && !buses_.contains(packet.tlp.requester_id)) {
    drop(packet, "foreign_requester", "unsupported_request");
    report(cfg::aer::Uncorrectable::kUnsupportedRequest, packet);
  } else {
    observe("message", "", packet);
    use_message(packet, t);
  }
}

// [LNK-12.3]
void RootPort::use_message(const Packet& packet, Time t) {
  const MessageUse use = use_at_root_port(packet.tlp.message_code, stage_ != nullptr);
  if (use == MessageUse::kUnsupported) {
    drop(packet, "unknown_message", "unsupported_request");
    report(cfg::aer::Uncorrectable::kUnsupportedRequest, packet);
    return;
  }
  ++counters_.messages;
  if (use == MessageUse::kTaken && hooks_.message) {
    hooks_.message(packet, t);
  }
}

}  // namespace flitwise
