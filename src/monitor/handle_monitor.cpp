// SPDX-License-Identifier: Apache-2.0
// Handles as they pass on the wire.
#include "monitor/handle_monitor.h"

#include <fmt/format.h>

#include "common/ranges.h"
#include "dhi/context_text.h"
#include "dhi/dhi_message.h"
#include "trace/packet_note.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kNotAllocated{"DHI D8", "a handle is used before its ALLOC"};
constexpr MonitoredRule kWrongDomain{
    "DHI S2", "a handle stands for another domain at the host than its sender meant"};

std::string text_of(const DeviceIdentity& identity, ContextId context) {
  std::string text = text_of(identity.bdf);
  if (identity.pasid) {
    text += fmt::format(" PASID {:#x}", to_int(*identity.pasid));
  }
  return context ? text + ' ' + text_of(context) : text;
}

}  // namespace

// [DHI D11]
void HandleMonitor::told(const Packet& packet) {
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  if (const auto* alloc = std::get_if<AllocMessage>(&message)) {
    owners_[to_int(alloc->dhi) & kHandleMask] = {alloc->identity, alloc->context};
  } else if (const auto* dealloc = std::get_if<DeallocMessage>(&message)) {
    forget(*dealloc);
  } else if (const auto* done = std::get_if<DeallocDone>(&message)) {
    given_up(*done, packet.tlp.requester_id);
  }
}

void HandleMonitor::ordered(const Packet& packet) {
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  if (const auto* order = std::get_if<DeallocOrder>(&message)) {
    const Bdf function{static_cast<std::uint16_t>(packet.tlp.message_dw2 >> 16)};
    const auto is_same = [&](const Order& one) {
      return one.function == function && one.order.tag == order->tag;
    };
    orders_.erase(std::remove_if(orders_.begin(), orders_.end(), is_same), orders_.end());
    orders_.push_back({function, *order});
  }
}

void HandleMonitor::given_up(const DeallocDone& done, Bdf function) {
  const auto order = find_if(orders_, [&](const Order& one) {
    return one.function == function && one.order.tag == done.tag;
  });
  if (order == orders_.end()) {
    return;
  }
  const DeallocMessage message = order->order.message;
  orders_.erase(order);
  if (done.status == HandleStatus::kOk) {
    forget(message);
  }
}

void HandleMonitor::forget(const DeallocMessage& message) {
  const HandleRange range = message.handles({Dhi{0}, Dhi{kHandleMask}});
  for (unsigned i = 0; i < range.size(); ++i) {
    Owner& owner = owners_[to_int(range.at(i)) & kHandleMask];
    if (message.scope != DeallocScope::kFunction || owner.identity.bdf == message.function) {
      owner = nobody();
    }
  }
}

std::size_t HandleMonitor::handle_elsewhere(const Tlp& tlp) const {
  const auto handle = identity_of(tlp, form_).handle;
  return handle ? to_int(*handle) : 0U;
}

void HandleMonitor::report(const Packet& packet, Time now) const {
  const std::size_t handle = handle_in(packet.tlp);
  const Owner& owner = owners_[handle];
  reporter_.report(
      kNotAllocated, now, packet,
      fmt::format(
          "handle {} means {}; its last ALLOC named {}", handle,
          text_of(packet.identity, packet.context),
          owner.identity == nobody().identity ? "nobody" : text_of(owner.identity, owner.context)));
}

void HandleMonitor::report_resolution(const Packet& packet, Time now) const {
  reporter_.report(kWrongDomain, now, packet,
                   fmt::format("meant {}, found {}", text_of(packet.identity, packet.context),
                               text_of(*packet.resolved, packet.resolved_context)));
}

}  // namespace flitwise
