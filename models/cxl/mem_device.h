// SPDX-License-Identifier: Apache-2.0
/// A memory expander (type 3) at its link: the rules of src/coherence, the lines, and the time they
/// take. [CXL-3.8]
#pragma once

#include <systemc>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coherence/memory_expander.h"
#include "common/component.h"
#include "common/outbox.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "flitwise/result.h"

namespace flitwise {

class CxlMemDevice : public ComponentModule {
 public:
  LinkTarget<CxlMemDevice> from_link{"from_link"};
  LinkInitiator<CxlMemDevice> to_link{"to_link"};

  CxlMemDevice(const sc_core::sc_module_name& name, const CxlDeviceConfig& config,
               PacketPool& pool);

  /// A message that its rules know nothing of.
  void send(PacketRef message) { send(std::move(message), now()); }

  /// The link has gone down: answers that have not left are forgotten. [CXL-3.9]
  void link_lost() { answers_.clear(); }

  bool is_quiet() const override { return answers_.empty(); }
  /// Counted by kind.
  std::map<std::string, std::uint64_t> errors() const override;
  void start_window() override;
  /// Of its answers, for room in the queue of the link.
  std::vector<WaitResult> waits() const override;

 private:
  static constexpr std::size_t kOutboxDepth = 256;

  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void answer(const Packet& request, const CxlOut& out);
  void send(PacketRef message, Time ready);

  const CxlDeviceConfig config_;
  PacketPool& pool_;
  MemoryExpander rules_;
  CxlOutput out_;  // scratch
  Outbox answers_;
};

}  // namespace flitwise
