// SPDX-License-Identifier: Apache-2.0
#include "flitwise/link_device.h"

#include <utility>

namespace flitwise {

LinkDevice::LinkDevice(const sc_core::sc_module_name& name) : sc_module(name) {
  from_link.register_nb_transport_fw(this, &LinkDevice::link_sends, 0);
  from_functions.register_nb_transport_fw(this, &LinkDevice::functions_send, 0);
  to_link.register_nb_transport_bw(this, &LinkDevice::link_has_room, 0);
  to_functions.register_nb_transport_bw(this, &LinkDevice::functions_have_room, 0);
}

void LinkDevice::start(const DeviceSite& site) {
  site_ = site;
  begin();
}

void LinkDevice::send(PacketRef packet) {
  packet->is_raw = true;
  packet->stamp(Hop::kIssue, now());
  site_.size(*packet);
  unsent_.push_back(std::move(packet));
  if (unsent_.size() == 1) {
    hand_over_first();
  }
}

bool LinkDevice::hand_over_first() {
  const PacketRef packet = unsent_.front();
  if (!flitwise::hand_over(to_link, *packet, now())) {
    return false;
  }
  unsent_.pop_front();
  ++sent_tlps_;
  posted_bytes_ += packet->tlp.type == TlpType::kMWr ? packet->payload_bytes : 0;
  return true;
}

tlm::tlm_sync_enum LinkDevice::link_sends(int /*id*/, Packet& packet, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  if (!packet.malformed && !packet.has_bad_ecrc && take(packet)) {
    return tlm::TLM_COMPLETED;
  }
  return to_functions->nb_transport_fw(packet, phase, delay);
}

tlm::tlm_sync_enum LinkDevice::functions_send(int /*id*/, Packet& packet, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  return to_link->nb_transport_fw(packet, phase, delay);
}

// For whoever was sent away: the link does not say whom it means.
tlm::tlm_sync_enum LinkDevice::link_has_room(int /*id*/, Packet& packet, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
  while (!unsent_.empty() && hand_over_first()) {
  }
  return from_functions->nb_transport_bw(packet, phase, delay);
}

tlm::tlm_sync_enum LinkDevice::functions_have_room(int /*id*/, Packet& packet,
                                                   tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  return from_link->nb_transport_bw(packet, phase, delay);
}

}  // namespace flitwise
