// SPDX-License-Identifier: Apache-2.0
// A memory expander.
#include "cxl/mem_device.h"

#include <fmt/format.h>

#include "flitwise/cxl.h"

namespace flitwise {
namespace {

constexpr std::size_t kOutboxDepth = 256;

std::uint32_t bytes_asked(const CxlMessage& message) {
  return static_cast<std::uint32_t>(__builtin_popcountll(message.byte_enables));
}

template <class Opcode>
constexpr std::uint8_t code_of(Opcode opcode) {
  return static_cast<std::uint8_t>(opcode);
}

}  // namespace

CxlMemDevice::CxlMemDevice(const sc_core::sc_module_name& name, const CxlDeviceConfig& config,
                           PacketPool& pool)
    : sc_module(name),
      config_(config),
      pool_(pool),
      memory_(config.memory),
      answers_(kOutboxDepth) {
  from_link.register_nb_transport_fw(this, &CxlMemDevice::receive, 0);
  to_link.register_nb_transport_bw(this, &CxlMemDevice::link_has_room, 0);
}

// A request never waits for an answer to leave: what cannot go yet stays here.
tlm::tlm_sync_enum CxlMemDevice::receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                                         sc_core::sc_time& /*delay*/) {
  ++requests_;
  const CxlMessage& message = *packet.cxl;
  if (message.channel == CxlChannel::kM2sRwd) {
    write(packet);
  } else if (message.channel == CxlChannel::kM2sReq) {
    read(packet);
  } else {
    ++dropped_;
    ++errors_["unexpected_cxl_message"];
  }
  return tlm::TLM_COMPLETED;
}

// MemRd is answered by data, MemInv by a completion; outside its memory by MemData-NXM. [CXL-3.8]
void CxlMemDevice::read(const Packet& request) {
  const CxlMessage& message = *request.cxl;
  if (message.opcode == code_of(cxl::M2sReq::kMemInv) ||
      message.opcode == code_of(cxl::M2sReq::kMemInvNt)) {
    answer(request, CxlChannel::kS2mNdr, code_of(cxl::S2mNdr::kCmpE), pool_.make(PacketKind::kCxl));
    return;
  }
  PacketRef data = pool_.make(PacketKind::kCxl);
  data->payload_bytes = bytes_asked(message);
  data->length_only = request.length_only;
  const bool is_inside = memory_.contains(message.address);
  if (!request.length_only) {
    data->payload.resize(kCxlLineBytes);
    if (const std::uint8_t* line = is_inside ? memory_.find(message.address) : nullptr) {
      std::memcpy(data->payload.data(), line, kCxlLineBytes);
    }
  }
  if (!is_inside) {
    ++errors_["cxl_address_outside_memory"];
  }
  const cxl::S2mDrs opcode = is_inside ? cxl::S2mDrs::kMemData : cxl::S2mDrs::kMemDataNxm;
  answer(request, CxlChannel::kS2mDrs, code_of(opcode), std::move(data));
}

// [CXL-3.8]
void CxlMemDevice::write(Packet& request) {
  const CxlMessage& message = *request.cxl;
  if (!memory_.contains(message.address)) {
    ++errors_["cxl_address_outside_memory"];
  } else if (!request.length_only && request.payload.size() == kCxlLineBytes) {
    memory_.write(message.address, request.payload.data(), message.byte_enables);
  }
  request.stamp(Hop::kMemory, now() + config_.timing.controller + config_.timing.latency);
  answer(request, CxlChannel::kS2mNdr, code_of(cxl::S2mNdr::kCmp), pool_.make(PacketKind::kCxl));
}

void CxlMemDevice::answer(const Packet& request, CxlChannel channel, std::uint8_t opcode,
                          PacketRef packet) {
  packet->cxl->channel = channel;
  packet->cxl->opcode = opcode;
  packet->cxl->id = request.cxl->id;
  packet->cxl->ld_id = request.cxl->ld_id;
  packet->counts = request.counts;
  ++answered_;
  const Time ready = now() + config_.timing.controller * 2 + config_.timing.latency;
  answers_.send({std::move(packet), ready, {}},
                [this](const Outbox::Entry& entry) { return hand_over(entry); });
}

bool CxlMemDevice::hand_over(const Outbox::Entry& entry) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(entry.ready > now() ? entry.ready - now() : Time{});
  return is_taken(to_link->nb_transport_fw(*entry.packet, phase, delay));
}

tlm::tlm_sync_enum CxlMemDevice::link_has_room(int /*id*/, Packet& /*packet*/,
                                               tlm::tlm_phase& /*phase*/,
                                               sc_core::sc_time& /*delay*/) {
  answers_.drain([this](const Outbox::Entry& entry) { return hand_over(entry); });
  return tlm::TLM_COMPLETED;
}

std::vector<CheckResult> CxlMemDevice::checks() const {
  return {{std::string(name()) + ": every CXL.mem request has one answer",
           requests_ == answered_ + dropped_,
           fmt::format("{} requests, {} answers, {} dropped", requests_, answered_, dropped_)}};
}

}  // namespace flitwise
