// SPDX-License-Identifier: Apache-2.0
// Initiator of the TLM-2.0 base protocol for memory requests.
#include "root_complex/memory_port.h"

#include "flitwise/link_socket.h"

namespace flitwise {

MemoryPort::MemoryPort(const sc_core::sc_module_name& name) : sc_module(name) {
  socket.register_nb_transport_bw(this, &MemoryPort::response);
}

MemoryTransaction& MemoryPort::take() {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<MemoryTransaction>());
    all_.back()->set_mm(this);
    idle_.push_back(all_.back().get());
  }
  MemoryTransaction& transaction = *idle_.back();
  idle_.pop_back();
  transaction.acquire();
  return transaction;
}

void MemoryPort::free(tlm::tlm_generic_payload* payload) {
  auto& transaction = static_cast<MemoryTransaction&>(*payload);
  transaction.packet.reset();
  idle_.push_back(&transaction);
}

void MemoryPort::submit(MemoryClient& client, PacketRef packet, Time delay) {
  MemoryTransaction& transaction = take();
  transaction.client = &client;
  transaction.packet = std::move(packet);
  fill(transaction);
  if (is_request_open_ || !waiting_.empty()) {
    waiting_.push_back(&transaction);
  } else {
    send(transaction, delay);
  }
}

void MemoryPort::fill(MemoryTransaction& transaction) {
  const Packet& packet = *transaction.packet;
  const Tlp& tlp = packet.tlp;
  const bool is_write = tlp.type == TlpType::kMWr;
  std::uint32_t lead = 0;
  std::uint32_t bytes = tlp.length_dw * 4U;
  transaction.set_byte_enable_ptr(nullptr);
  transaction.set_byte_enable_length(0);
  if (is_write && tlp.length_dw <= 2 && (tlp.first_be & tlp.last_be) != 0xf) {
    // Short writes may have gaps: one byte enable a byte.
    for (std::uint32_t i = 0; i < bytes; ++i) {
      const unsigned enables = i < 4 ? tlp.first_be : tlp.last_be;
      transaction.byte_enables[i] = (enables >> (i % 4) & 1U) != 0 ? 0xff : 0;
    }
    transaction.set_byte_enable_ptr(transaction.byte_enables.data());
    transaction.set_byte_enable_length(bytes);
  } else if (is_write) {
    lead = static_cast<std::uint32_t>(__builtin_ctz(tlp.first_be | 0x10U));
    bytes -= lead + static_cast<std::uint32_t>(__builtin_clz(tlp.last_be | 0x0U) - 28);
  }
  transaction.set_command(is_write && packet.length_only ? tlm::TLM_IGNORE_COMMAND
                          : is_write                     ? tlm::TLM_WRITE_COMMAND
                                                         : tlm::TLM_READ_COMMAND);
  transaction.set_address(tlp.address + lead);
  // A write reads the packet itself (a target never changes the data of a write); a read fills the
  // transaction's own.
  transaction.set_data_ptr(is_write && !packet.length_only
                               ? const_cast<std::uint8_t*>(packet.payload.data()) + lead
                               : transaction.data.data());
  transaction.set_data_length(bytes);
  transaction.set_streaming_width(bytes);
  transaction.set_dmi_allowed(false);
  transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void MemoryPort::send(MemoryTransaction& transaction, Time delay) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time annotated = to_sc_time(delay);
  is_request_open_ = true;
  const tlm::tlm_sync_enum answer = socket->nb_transport_fw(transaction, phase, annotated);
  const Time when = now() + Time{static_cast<std::int64_t>(annotated.value())};
  if (answer == tlm::TLM_COMPLETED) {
    is_request_open_ = false;
    finish(transaction, when);
  } else if (answer == tlm::TLM_UPDATED) {
    is_request_open_ = false;
    if (phase == tlm::BEGIN_RESP) {
      phase = tlm::END_RESP;
      annotated = sc_core::SC_ZERO_TIME;
      socket->nb_transport_fw(transaction, phase, annotated);
      finish(transaction, when);
    }
  }
}

tlm::tlm_sync_enum MemoryPort::response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  is_request_open_ = false;
  if (phase == tlm::BEGIN_RESP) {
    finish(static_cast<MemoryTransaction&>(payload),
           now() + Time{static_cast<std::int64_t>(delay.value())});
    answer = tlm::TLM_COMPLETED;
  }
  send_waiting();
  return answer;
}

void MemoryPort::send_waiting() {
  while (!waiting_.empty() && !is_request_open_) {
    MemoryTransaction& next = *waiting_.front();
    waiting_.pop_front();
    send(next, Time{});
  }
}

void MemoryPort::finish(MemoryTransaction& transaction, Time when) {
  transaction.client->memory_done(transaction, when);
  transaction.release();
}

}  // namespace flitwise
