// SPDX-License-Identifier: Apache-2.0
// Initiator of the TLM-2.0 base protocol for memory requests.
#include "memory/memory_port.h"

#include "iommu/entries.h"
#include "tlp/atomic_op.h"

namespace flitwise {

namespace {

void describe(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::uint64_t address,
              std::uint8_t* data, std::size_t bytes) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
}

}  // namespace

MemoryPort::MemoryPort(const sc_core::sc_module_name& name, std::string place)
    : ComponentModule(name), place_(std::move(place)) {
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

bool MemoryPort::submit(MemoryClient& client, PacketRef packet, std::uint64_t address, Time delay) {
  MemoryTransaction& transaction = take();
  transaction.client = &client;
  transaction.packet = std::move(packet);
  transaction.is_waiting = false;
  fill(transaction, address);
  asked_ = std::max(asked_, now() + delay);
  transaction.ready = now() + delay;
  if (!may_send() || !waiting_.empty()) {
    transaction.is_waiting = true;
    waiting_.push_back(&transaction);
    return false;
  }
  send(transaction, delay);
  const bool is_taken = open_request_ == nullptr;
  if (!is_taken) {
    open_request_->is_waiting = true;
  }
  return is_taken;
}

void MemoryPort::fill_line(MemoryTransaction& transaction) {
  const Packet& packet = *transaction.packet;
  const std::uint64_t enables = packet.cxl->byte_enables;
  const bool is_write = packet.cxl->has_data();
  const bool has_gaps = is_write && packet.cxl->is_partial();
  for (std::uint32_t i = 0; has_gaps && i < kCxlLineBytes; ++i) {
    transaction.byte_enables[i] = (enables >> i & 1U) != 0 ? 0xff : 0;
  }
  transaction.set_byte_enable_ptr(has_gaps ? transaction.byte_enables.data() : nullptr);
  transaction.set_byte_enable_length(has_gaps ? kCxlLineBytes : 0);
  describe(transaction, is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
           packet.cxl->address,
           is_write ? const_cast<std::uint8_t*>(packet.payload.data()) : transaction.data.data(),
           kCxlLineBytes);
}

void MemoryPort::fill(MemoryTransaction& transaction, std::uint64_t address) {
  const Packet& packet = *transaction.packet;
  transaction.set_dmi_allowed(false);
  transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  transaction.is_atomic = false;
  if (packet.kind == PacketKind::kCxl) {
    fill_line(transaction);
    return;
  }
  const Tlp& tlp = packet.tlp;
  const bool is_write = tlp.type == TlpType::kMWr || tlp.type == TlpType::kDMWr;
  std::uint32_t lead = 0;
  transaction.is_atomic = is_atomic(tlp.type);
  std::uint32_t bytes = bytes_named(tlp);
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
  const tlm::tlm_command command = is_write && packet.length_only ? tlm::TLM_IGNORE_COMMAND
                                   : is_write                     ? tlm::TLM_WRITE_COMMAND
                                                                  : tlm::TLM_READ_COMMAND;
  // A write reads the packet itself (a target never changes the data of a write); a read fills the
  // transaction's own.
  describe(transaction, command, address + lead,
           command == tlm::TLM_WRITE_COMMAND
               ? const_cast<std::uint8_t*>(packet.payload.data()) + lead
               : transaction.data.data(),
           bytes);
}

void MemoryPort::send(MemoryTransaction& transaction, Time delay) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time annotated = to_sc_time(delay);
  open_request_ = &transaction;
  atomic_ = transaction.is_atomic ? &transaction : nullptr;
  const tlm::tlm_sync_enum answer = socket->nb_transport_fw(transaction, phase, annotated);
  if (answer == tlm::TLM_ACCEPTED) {
    return;
  }
  end_request(transaction);
  const Time when = now() + Time{static_cast<std::int64_t>(annotated.value())};
  if (answer == tlm::TLM_COMPLETED) {
    finish(transaction, when);
  } else if (phase == tlm::BEGIN_RESP) {
    phase = tlm::END_RESP;
    annotated = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(transaction, phase, annotated);
    finish(transaction, when);
  }
}

// The response of an older access says nothing about the request that is open now.
void MemoryPort::end_request(MemoryTransaction& transaction) {
  if (open_request_ != &transaction) {
    return;
  }
  open_request_ = nullptr;
  if (transaction.is_waiting) {
    transaction.client->memory_took(transaction);
  }
}

tlm::tlm_sync_enum MemoryPort::response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  auto& transaction = static_cast<MemoryTransaction&>(payload);
  tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  end_request(transaction);
  if (phase == tlm::BEGIN_RESP) {
    finish(transaction, now() + Time{static_cast<std::int64_t>(delay.value())});
    answer = tlm::TLM_COMPLETED;
  }
  while (!waiting_.empty() && may_send()) {
    MemoryTransaction& next = *waiting_.front();
    waiting_.pop_front();
    waits_.add(next.ready, now());
    send(next, std::max(next.ready, now()) - now());
  }
  return answer;
}

bool MemoryPort::poke(std::uint64_t address, const std::uint8_t* bytes, std::size_t size) {
  // The target of a write never changes its data.
  auto* const data = const_cast<std::uint8_t*>(bytes);
  const bool is_done = access(tlm::TLM_WRITE_COMMAND, address, data, size);
  for (const auto& seen : seen_) {
    if (is_done) {
      seen->written(address, bytes, size, now(), now());
    }
  }
  return is_done;
}

bool MemoryPort::poke_u64(std::uint64_t address, std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes{};
  store_u64(bytes.data(), value);
  return poke(address, bytes.data(), bytes.size());
}

std::uint64_t MemoryPort::peek_u64(std::uint64_t address) {
  std::array<std::uint8_t, 8> bytes{};
  return peek(address, bytes.data(), bytes.size()) ? load_u64(bytes.data()) : 0;
}

bool MemoryPort::access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* bytes,
                        std::size_t size) {
  MemoryTransaction& transaction = take();
  transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  transaction.set_byte_enable_ptr(nullptr);
  transaction.set_byte_enable_length(0);
  describe(transaction, command, address, bytes, size);
  const bool is_whole = socket->transport_dbg(transaction) == size;
  transaction.release();
  return is_whole;
}

// At the time of the read: model: the memory does both in place, as two accesses of its bus.
[[gnu::noinline]] bool MemoryPort::write_back(const MemoryTransaction& read) {
  atomic_ = nullptr;
  std::array<std::uint8_t, kMaxOperandBytes> result{};
  const Packet& packet = *read.packet;
  if (!read.is_response_ok() ||
      !apply_atomic(packet.tlp, packet.payload.data(), read.data.data(), result.data())) {
    return false;
  }
  const std::size_t bytes = read.get_data_length();
  MemoryTransaction& write = take();
  write.client = read.client;
  write.packet = read.packet;
  write.is_waiting = write.is_atomic = false;
  write.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  write.set_byte_enable_ptr(nullptr);
  write.set_byte_enable_length(0);
  std::copy_n(read.data.begin(), bytes, write.data.begin());
  std::copy_n(result.begin(), bytes, write.data.begin() + bytes);
  describe(write, tlm::TLM_WRITE_COMMAND, read.get_address(), write.data.data() + bytes, bytes);
  send(write, std::max(read.ready, now()) - now());
  return true;
}

// Bytes that are not enabled stay as they are.
[[gnu::noinline]] void MemoryPort::note_write(const MemoryTransaction& write, Time when) {
  const std::uint64_t address = write.get_address();
  const std::uint8_t* const data = write.get_data_ptr();
  const std::uint8_t* const enables = write.get_byte_enable_ptr();
  const std::size_t size = write.get_data_length();
  for (const auto& seen : seen_) {
    if (enables == nullptr) {
      seen->written(address, data, size, now(), when);
    }
    for (std::size_t i = 0; enables != nullptr && i < size; ++i) {
      if (enables[i] != 0) {
        seen->written(address + i, data + i, 1, now(), when);
      }
    }
  }
}

void MemoryPort::finish(MemoryTransaction& transaction, Time when) {
  done_ = std::max(done_, when);
  if (!seen_.empty() && transaction.is_write() && transaction.is_response_ok()) {
    note_write(transaction, when);
  }
  if (!transaction.is_atomic || !write_back(transaction)) {
    transaction.client->memory_done(transaction, when);
  }
  transaction.release();
}

}  // namespace flitwise
