// SPDX-License-Identifier: Apache-2.0
// Host memory behind the TLM-2.0 base protocol.
#include "host/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "flitwise/error.h"
#include "flitwise/link_socket.h"

namespace flitwise {

HostMemory::HostMemory(const sc_core::sc_module_name& name, const HostConfig& config)
    : ComponentModule(name),
      size_(config.memory.size),
      latency_(to_sc_time(config.memory.timing.latency)),
      fs_per_byte_(config.memory.bandwidth_gbps > 0 ? 8e6 / config.memory.bandwidth_gbps : 0) {
  void* area = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) {
    throw SimulationError("host.memory.size: the machine has no address space for " +
                          std::to_string(size_) + " bytes of simulated memory");
  }
  bytes_ = static_cast<std::uint8_t*>(area);
  socket.register_nb_transport_fw(this, &HostMemory::nb_transport);
  socket.register_b_transport(this, &HostMemory::b_transport);
  socket.register_transport_dbg(this, &HostMemory::debug);
}

HostMemory::~HostMemory() {
  munmap(bytes_, size_);
}

bool HostMemory::poke(std::uint64_t address, const std::uint8_t* bytes, std::size_t size) {
  if (!is_inside(address, size)) {
    return false;
  }
  std::memcpy(bytes_ + address, bytes, size);
  return true;
}

bool HostMemory::map(std::uint64_t address, std::uint64_t size, int file, std::uint64_t offset) {
  return is_inside(address, size) &&
         mmap(bytes_ + address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

// An access that the window cuts counts whole: of a few ns each.
void HostMemory::start_window() {
  bus_waits_.start_window(now());
  window_begin_ = now();
  bus_time_ = Time{};
  busy_.reset();
}

double HostMemory::busy() const {
  const Time span = std::max(now(), busy_until_) - window_begin_;
  return span > Time{} ? std::min(bus_time_.ns() / span.ns(), 1.0) : 0;
}

std::vector<WaitResult> HostMemory::waits() const {
  WaitResult result = bus_waits_.result(
      {name(), "bandwidth", ResourceRole::kServer, "", "", "host.memory.bandwidth", 1});
  result.busy = busy_ ? *busy_ : busy();
  return {result};
}

void HostMemory::access(tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  const std::size_t size = payload.get_data_length();
  if (!is_inside(address, size)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  std::uint8_t* const data = payload.get_data_ptr();
  const std::uint8_t* const enables = payload.get_byte_enable_ptr();
  if (payload.is_read()) {
    std::memcpy(data, bytes_ + address, size);
  } else if (enables == nullptr) {
    std::memcpy(bytes_ + address, data, size);
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      if (enables[i % payload.get_byte_enable_length()] != 0) {
        bytes_[address + i] = data[i];
      }
    }
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

tlm::tlm_sync_enum HostMemory::nb_transport(tlm::tlm_generic_payload& payload,
                                            tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    b_transport(payload, delay);
  }
  return tlm::TLM_COMPLETED;
}

// It arrives after `delay`; the data bus serves one after the other.
void HostMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  access(payload);
  if (fs_per_byte_ != 0) {
    const Time arrival = now() + Time{static_cast<std::int64_t>(delay.value())};
    bus_waits_.add(arrival, busy_until_);
    const Time transfer{static_cast<std::int64_t>(payload.get_data_length() * fs_per_byte_)};
    busy_until_ = std::max(arrival, busy_until_) + transfer;
    bus_time_ += transfer;
    delay += to_sc_time(busy_until_ - arrival);
  }
  delay += latency_;
}

unsigned int HostMemory::debug(tlm::tlm_generic_payload& payload) {
  access(payload);
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

}  // namespace flitwise
