// SPDX-License-Identifier: Apache-2.0
// Handles as they pass on the wire.
#include "monitor/handle_monitor.h"

#include <fmt/format.h>

#include "dhi/dhi_message.h"
#include "monitor/packet_note.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kNotAllocated{"DHI D8", "a handle is used before its ALLOC"};
constexpr MonitoredRule kWrongDomain{
    "DHI S2", "a handle stands for another domain at the host than its sender meant"};

std::string text_of(const DeviceIdentity& identity) {
  return identity.pasid
             ? fmt::format("{} PASID {:#x}", text_of(identity.bdf), to_int(*identity.pasid))
             : text_of(identity.bdf);
}

}  // namespace

// DEALLOCs of a function or of all leave what they name in peace here: a later use is refused by
// the host. model: the monitor follows one handle and ranges.
void HandleMonitor::told(const Packet& packet) {
  const DhiMessage message =
      parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
  if (const auto* alloc = std::get_if<AllocMessage>(&message)) {
    owners_[to_int(alloc->dhi) & kHandleMask] = alloc->identity;
  } else if (const auto* dealloc = std::get_if<DeallocMessage>(&message)) {
    if (dealloc->scope == DeallocScope::kOne || dealloc->scope == DeallocScope::kRange) {
      const unsigned last =
          to_int(dealloc->scope == DeallocScope::kOne ? dealloc->dhi : dealloc->upper);
      for (unsigned handle = to_int(dealloc->dhi); handle <= last; ++handle) {
        owners_[handle & kHandleMask] = nobody();
      }
    }
  }
}

std::size_t HandleMonitor::handle_elsewhere(const Tlp& tlp) const {
  const auto handle = identity_of(tlp, form_).handle;
  return handle ? to_int(*handle) : 0U;
}

void HandleMonitor::report(const Packet& packet, Time now) const {
  const std::size_t handle = handle_in(packet.tlp);
  const DeviceIdentity& owner = owners_[handle];
  reporter_.report(
      kNotAllocated, now, packet,
      fmt::format("handle {} means {}; its last ALLOC named {}", handle, text_of(packet.identity),
                  owner == nobody() ? "nobody" : text_of(owner)));
}

void HandleMonitor::report_resolution(const Packet& packet, Time now) const {
  reporter_.report(
      kWrongDomain, now, packet,
      fmt::format("meant {}, found {}", text_of(packet.identity), text_of(*packet.resolved)));
}

}  // namespace flitwise
