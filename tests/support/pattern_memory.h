// SPDX-License-Identifier: Apache-2.0
/// A memory that stores nothing: it checks that the devices' pattern (64-bit words that count from
/// one, never twice the same) comes in whole, once and in order.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>

namespace flitwise::test {

class PatternMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<PatternMemory> socket{"socket"};
  std::uint64_t bytes = 0;         ///< written so far
  std::uint64_t out_of_place = 0;  ///< words that were not the next one
  std::uint64_t reads = 0;

  explicit PatternMemory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &PatternMemory::forward);
  }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& delay) {
    const std::size_t size = payload.get_data_length();
    if (payload.is_write()) {
      for (std::size_t i = 0; i + 8 <= size; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, payload.get_data_ptr() + i, 8);
        out_of_place += word == next_ ? 0 : 1;
        next_ = word + 1;
      }
      bytes += size;
    } else {
      std::memset(payload.get_data_ptr(), 0, size);
      ++reads;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += sc_core::sc_time(80, sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  }

  std::uint64_t next_ = 1;
};

}  // namespace flitwise::test
