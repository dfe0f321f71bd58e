// SPDX-License-Identifier: Apache-2.0
/// The border to host memory, and the only place where packets meet generic payloads: an initiator
/// of the TLM-2.0 base protocol that works with any memory model (early completion or all four
/// phases).
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "flitwise/packet.h"
#include "flitwise/time.h"

namespace flitwise {

class MemoryClient;

/// One access. data: the bytes read.
struct MemoryTransaction : tlm::tlm_generic_payload {
  MemoryClient* client = nullptr;
  PacketRef packet;
  std::array<std::uint8_t, 4096> data;
  std::array<std::uint8_t, 8> byte_enables;
};

class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  /// The access is done at `when` (at or after now); its payload is read-only and gone afterwards.
  virtual void memory_done(const MemoryTransaction& transaction, Time when) = 0;
};

class MemoryPort : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_initiator_socket<MemoryPort> socket{"socket"};

  explicit MemoryPort(const sc_core::sc_module_name& name);

  /// Accesses memory for a memory request TLP, `delay` from now. Accesses start in the order of the
  /// calls. A read covers whole DWs; a write touches the enabled bytes only.
  void submit(MemoryClient& client, PacketRef packet, Time delay);
  std::size_t in_flight() const { return all_.size() - idle_.size(); }

 private:
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void fill(MemoryTransaction& transaction);
  void send(MemoryTransaction& transaction, Time delay);
  void send_waiting();
  void finish(MemoryTransaction& transaction, Time when);
  MemoryTransaction& take();
  void free(tlm::tlm_generic_payload* payload) override;

  std::vector<std::unique_ptr<MemoryTransaction>> all_;
  std::vector<MemoryTransaction*> idle_;
  std::deque<MemoryTransaction*> waiting_;  // the memory has not ended the request before them
  bool is_request_open_ = false;
};

}  // namespace flitwise
