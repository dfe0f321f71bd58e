// SPDX-License-Identifier: Apache-2.0
/// A thread of a core that sends packets: its contexts, the packet that it writes, and what it
/// waits for.
#pragma once

#include <boost/circular_buffer.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "flitwise/time.h"
#include "pio/context_recovery.h"
#include "pio/hostile_writes.h"
#include "pio/pbc.h"
#include "pio/send_registers.h"
#include "pio/sender_credits.h"
#include "stats/open_wait.h"
#include "workload/workload.h"

namespace flitwise {

struct PioThread {
  struct Context {
    unsigned number = 0;
    SenderCredits credits;
    std::uint64_t packets = 0;
    std::optional<HostileWrites> hostile = {};  // what its process writes, where it is hostile
    bool was_reset = false;                     // with the device, and is not recovered
  };
  struct Packet {
    Context* context = nullptr;  // null: none
    std::uint16_t first_block = 0, blocks = 0, block = 0;
    Pbc pbc;
    unsigned stored = 0;    // bytes of the block that comes next
    bool is_read = false;   // its source
    bool is_ready = false;  // and the time of its stores is over
  };

  struct ControlWrite {
    SendRegisters::Register one{};
    unsigned context = 0;
    std::uint64_t value = 0;
  };

  std::unique_ptr<Workload> stream;
  std::uint64_t total = 0;  // packets
  WorkItem item;
  Time begun{};  // the item has arrived, or the thread has come to it
  bool has_item = false, is_exhausted = false, needs_fence = false;
  bool has_given_up = false;     // the device is gone
  bool waits_for_fence = false;  // not for a block, where place_wait is open
  bool is_described = false;     // the item, which goes by SDMA
  std::vector<Context> contexts;
  Packet packet;
  Time free{};  // of what it does
  OpenWait credit_wait, recovery_wait;
  OpenWait ring_wait;                   // for room in the ring of an SDMA engine
  OpenWait place_wait;                  // for a block of the store buffer
  Time iio_blocked{};                   // of that wait: the IIO had no room for a write of the core
  Time forced_at = Time::never();       // ForceReturn, for the packet that waits
  unsigned forced_shadow = 0;           // what the thread knew then
  const Context* interrupts = nullptr;  // whose credit interrupt is on
  boost::circular_buffer<ControlWrite> control{8};  // writes that are to go
  Time fence_due = Time::never();                   // the answer of the IIO
  Context* in_error = nullptr;                      // null: none; else it is recovered
  std::unique_ptr<ContextRecovery> recovery;
};

}  // namespace flitwise
