// SPDX-License-Identifier: Apache-2.0
// Handles that software frees through the invalidation queue: the device gives them up first, then
// the host does, and only then the command is answered. [DHI D15] [IOM-5.9]
#include "dhi/dhi_message.h"
#include "iommu/translation_agent.h"

namespace flitwise {
namespace {

DeallocMessage message_of(const HandleInvalidation& command, std::uint8_t epoch) {
  DeallocMessage message;
  message.scope = command.scope;
  message.epoch = epoch;
  switch (command.scope) {
    case DeallocScope::kRange:
      message.upper = command.upper;
      message.dhi = command.lower;
      break;
    case DeallocScope::kOne:
      message.dhi = command.lower;
      break;
    case DeallocScope::kFunction:
      message.function = command.source;
      break;
    case DeallocScope::kAll:
      break;
  }
  return message;
}

}  // namespace

// The tags of the device are what limits them: the queue stands until one is free. A function that
// cannot be reached, or whose device has no handles, does not answer, as with device TLBs.
void TranslationAgent::carry_out(const HandleInvalidation& command) {
  const std::optional<HandleTables::Device> device =
      handle_tables_ == nullptr ? std::nullopt : handle_tables_->device_of(command.source);
  const Bdf first = device ? device->first : command.source;
  if (!handle_orders_.can_send(first)) {
    counts_.held_back += held_ ? 0 : 1;
    held_ = command;
    return;
  }
  held_.reset();
  ++counts_.invalidations;
  const DeallocOrder order = handle_orders_.send(
      first, command.source, message_of(command, device ? device->epoch : std::uint8_t{0}), now());
  wakeup_.at(next_timeout());
  queue_.sent_to_device();
  PacketRef packet = pool_.make(PacketKind::kTlp);
  write_order(*packet, kRootComplexId, command.source, order);
  packet->payload_bytes = static_cast<std::uint32_t>(packet->payload.size());
  packet->counts = false;
  if (send_) {
    send_(std::move(packet), Time{});
  }
}

// Uses that came before the answer have found their entries; the entries go now. What nobody has
// asked for, and a refusal, set ICE.
void TranslationAgent::handles_given_up(Bdf function, const DeallocDone& done) {
  const std::optional<DeallocSender::Order> order = handle_orders_.complete(function, done);
  if (!order) {
    complaint_about(function);
    return;
  }
  if (handle_tables_ != nullptr &&
      handle_tables_->answered(function, order->message, done.status) != HandleStatus::kOk) {
    complaint_about(function);
  }
  device_answered();
  send_held_invalidation();
  settle();
}

}  // namespace flitwise
