// SPDX-License-Identifier: Apache-2.0
// A memory expander.
#include "cxl/mem_device.h"

#include "cxl/cxl_outbox.h"

namespace flitwise {

CxlMemDevice::CxlMemDevice(const sc_core::sc_module_name& name, const CxlDeviceConfig& config,
                           PacketPool& pool)
    : ComponentModule(name),
      config_(config),
      pool_(pool),
      rules_(config.memory),
      answers_(kOutboxDepth) {
  from_link.register_nb_transport_fw(this, &CxlMemDevice::receive, 0);
  to_link.register_nb_transport_bw(this, &CxlMemDevice::link_has_room, 0);
}

// Requests take effect in their order, and never wait for an answer to leave: what cannot go yet
// stays here.
[[gnu::flatten]] tlm::tlm_sync_enum CxlMemDevice::receive(int /*id*/, Packet& packet,
                                                          tlm::tlm_phase& /*phase*/,
                                                          sc_core::sc_time& /*delay*/) {
  out_.clear();
  if (rules_.receive(*packet.cxl, line_with(packet), out_)) {
    packet.stamp(Hop::kMemory, now() + config_.timing.controller + config_.timing.latency);
  }
  for (const CxlOut& out : out_) {
    answer(packet, out);
  }
  return tlm::TLM_COMPLETED;
}

void CxlMemDevice::answer(const Packet& request, const CxlOut& out) {
  PacketRef packet = pool_.make(PacketKind::kCxl);
  *packet->cxl = out.message;
  packet->counts = request.counts;
  if (out.message.has_data()) {
    packet->payload_bytes =
        static_cast<std::uint32_t>(__builtin_popcountll(request.cxl->byte_enables));
    packet->length_only = request.length_only;
    if (!request.length_only) {
      packet->payload.assign(out.line.begin(), out.line.end());
    }
  }
  send(std::move(packet), now() + config_.timing.controller * 2 + config_.timing.latency);
}

void CxlMemDevice::send(PacketRef message, Time ready) {
  answers_.send({std::move(message), ready, {}}, [this](const Outbox::Entry& entry) {
    return hand_over(to_link, *entry.packet, entry.ready);
  });
}

tlm::tlm_sync_enum CxlMemDevice::link_has_room(int /*id*/, Packet& /*packet*/,
                                               tlm::tlm_phase& /*phase*/,
                                               sc_core::sc_time& /*delay*/) {
  answers_.drain([this](const Outbox::Entry& entry) {
    return hand_over(to_link, *entry.packet, entry.ready);
  });
  return tlm::TLM_COMPLETED;
}

void CxlMemDevice::start_window() {
  answers_.waits().start_window(now());
}

std::vector<WaitResult> CxlMemDevice::waits() const {
  return {answers_.waits().result(
      {name(), "cxl_queues", ResourceRole::kQueue, "up", "", "link.cxl.queue_depth"})};
}

std::map<std::string, std::uint64_t> CxlMemDevice::errors() const {
  const BadMessageCounts& bad = rules_.bad_messages();
  const std::uint64_t outside = bad[BadMessage::kBadAddress];
  return {{"cxl_address_outside_memory", outside},
          {"unexpected_cxl_message", bad.total() - outside}};
}

}  // namespace flitwise
