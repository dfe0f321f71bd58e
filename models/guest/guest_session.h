// SPDX-License-Identifier: Apache-2.0
/// A machine whose host software is a Linux kernel: user-mode Linux as a child process. What it
/// does to its PCI devices are accesses of host software, its memory is that of the host, messages
/// of devices interrupt it, and its clock is that of the simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "guest/guest_bus.h"
#include "system/machine.h"
#include "uml/guest_process.h"
#include "uml/uml_peer.h"
#include "uml/vhost_device.h"

namespace flitwise {

struct GuestPlan {
  std::vector<std::string> words;      ///< the program and its arguments
  std::string folder;                  ///< where it runs, and has its sockets
  std::chrono::seconds patience{120};  ///< of real time, in which it says nothing
  std::function<void(const std::string& text)> console;
};

class GuestSession {
 public:
  /// Where Linux has the messages of devices written. [UML: um_pci_compose_msi_msg]
  static constexpr std::uint64_t kMsiAddress = 0xa'0000;

  /// `machine` outlives it, and nothing has run yet.
  GuestSession(Machine& machine, GuestPlan plan);

  /// From power-on to power-off. Throws SimulationError where the guest comes to another end,
  /// Interrupted where the user ends it.
  void run();

  std::uint64_t interrupts() const { return interrupts_; }
  const GuestBus::Counts& accesses() const { return bus_.counts(); }
  /// What in its queues was not as it has to be.
  std::uint64_t flaws() const;

 private:
  void hear_interrupts();
  void take_memory(const GuestMemory& memory);
  void kicked(VhostDevice& device, unsigned queue);
  void take_commands(VhostDevice& device);
  void serve();
  void tell_guest();
  bool has_news() const { return !messages_.empty() && has_room_; }
  std::uint64_t now_ns() const;
  Time wanted_time() const;
  [[noreturn]] void fail(const std::string& what);

  Machine& machine_;
  const GuestPlan plan_;
  GuestBus bus_;
  VhostDevice devices_;    // with their configuration spaces and addresses
  VhostDevice messenger_;  // by which interrupts go
  UmlPeer peer_;
  std::unique_ptr<GuestProcess> process_;
  std::deque<std::uint32_t> messages_;  // interrupts that the guest has not been told of
  bool has_room_ = true;                // for one more, as far as we know
  unsigned unheard_ = 0;                // commands given back since the guest last looked
  std::uint64_t interrupts_ = 0;
};

}  // namespace flitwise
