// SPDX-License-Identifier: Apache-2.0
/// A memory expander (type 3) at its link: takes M2S requests, has the line after its latency, and
/// answers with S2M messages. [CXL-3.8]
#pragma once

#include <systemc>

#include <map>
#include <string>
#include <vector>

#include "common/outbox.h"
#include "cxl/line_memory.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "flitwise/result.h"

namespace flitwise {

class CxlMemDevice : public sc_core::sc_module {
 public:
  LinkTarget<CxlMemDevice> from_link{"from_link"};
  LinkInitiator<CxlMemDevice> to_link{"to_link"};

  CxlMemDevice(const sc_core::sc_module_name& name, const CxlDeviceConfig& config,
               PacketPool& pool);

  bool is_quiet() const { return answers_.empty(); }
  /// Untimed access for tests; null where nothing was written.
  const std::uint8_t* peek(std::uint64_t address) const { return memory_.find(address); }
  /// Counted by kind: requests outside the memory, messages that it does not know.
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }
  std::vector<CheckResult> checks() const;

 private:
  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void read(const Packet& request);
  void write(Packet& request);
  void answer(const Packet& request, CxlChannel channel, std::uint8_t opcode, PacketRef packet);
  bool hand_over(const Outbox::Entry& entry);

  const CxlDeviceConfig config_;
  PacketPool& pool_;
  LineMemory memory_;
  Outbox answers_;
  std::uint64_t requests_ = 0, answered_ = 0, dropped_ = 0;
  std::map<std::string, std::uint64_t> errors_;
};

}  // namespace flitwise
