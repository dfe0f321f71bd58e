// SPDX-License-Identifier: Apache-2.0
/// A memory as somebody else would write it: all four phases of the TLM-2.0 base protocol, one
/// request and one response at a time, and another latency for every access.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/random.h"

namespace flitwise::test {

class FourPhaseMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<FourPhaseMemory> socket{"socket"};
  std::uint64_t reads = 0, writes = 0;
  std::size_t most_in_flight = 0;

  /// `size` bytes at `base`; a request is taken within `most_take`, answered within `most_answer`.
  FourPhaseMemory(const sc_core::sc_module_name& name, std::uint64_t base, std::size_t size,
                  sc_core::sc_time most_take, sc_core::sc_time most_answer)
      : sc_module(name),
        base_(base),
        bytes_(size),
        most_take_(most_take),
        most_answer_(most_answer),
        queue_(this, &FourPhaseMemory::at_its_time) {
    socket.register_nb_transport_fw(this, &FourPhaseMemory::forward);
    socket.register_transport_dbg(this, &FourPhaseMemory::debug);
  }

 private:
  sc_core::sc_time some_of(const sc_core::sc_time& most) {
    return sc_core::sc_time::from_value(1 + random_.below(most.value()));
  }

  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) {
      EXPECT_FALSE(is_request_open_) << "a request before the end of the one before";
      is_request_open_ = true;
      payload.acquire();
      queue_.notify(payload, phase, delay + some_of(most_take_));
      return tlm::TLM_ACCEPTED;
    }
    EXPECT_EQ(phase, tlm::END_RESP);
    end_response(payload);
    return tlm::TLM_COMPLETED;
  }

  void at_its_time(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
    if (phase == tlm::BEGIN_REQ) {
      is_request_open_ = false;
      most_in_flight = std::max(most_in_flight, ++in_flight_);
      send(payload, tlm::END_REQ);
      queue_.notify(payload, tlm::BEGIN_RESP, some_of(most_answer_));
    } else {
      access(payload);
      responses_.push_back(&payload);
      if (responses_.size() == 1) {
        respond();
      }
    }
  }
  void respond() {
    tlm::tlm_generic_payload& payload = *responses_.front();
    if (send(payload, tlm::BEGIN_RESP) == tlm::TLM_COMPLETED) {
      end_response(payload);
    }
  }
  void end_response(tlm::tlm_generic_payload& payload) {
    EXPECT_EQ(&payload, responses_.front());
    responses_.pop_front();
    --in_flight_;
    payload.release();
    if (!responses_.empty()) {
      respond();
    }
  }
  tlm::tlm_sync_enum send(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return socket->nb_transport_bw(payload, phase, delay);
  }

  void access(tlm::tlm_generic_payload& payload) {
    const std::uint64_t at = payload.get_address() - base_;
    const unsigned size = payload.get_data_length();
    if (payload.get_address() < base_ || at + size > bytes_.size()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    ++(payload.is_write() ? writes : reads);
    for (unsigned i = 0; i < size; ++i) {
      const unsigned char* const enables = payload.get_byte_enable_ptr();
      if (payload.is_read()) {
        payload.get_data_ptr()[i] = bytes_[at + i];
      } else if (enables == nullptr || enables[i % payload.get_byte_enable_length()] != 0) {
        bytes_[at + i] = payload.get_data_ptr()[i];
      }
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned debug(tlm::tlm_generic_payload& payload) {
    access(payload);
    return payload.is_response_ok() ? payload.get_data_length() : 0;
  }

  const std::uint64_t base_;
  std::vector<std::uint8_t> bytes_;
  const sc_core::sc_time most_take_, most_answer_;
  tlm_utils::peq_with_cb_and_phase<FourPhaseMemory> queue_;
  std::deque<tlm::tlm_generic_payload*> responses_;
  Random random_{99};
  bool is_request_open_ = false;
  std::size_t in_flight_ = 0;
};

}  // namespace flitwise::test
