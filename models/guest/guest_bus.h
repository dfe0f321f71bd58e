// SPDX-License-Identifier: Apache-2.0
/// What a guest kernel does to its PCI devices, as accesses of host software: one after another, in
/// its order. A write to memory is posted; behind a read, or an access to configuration space, the
/// next one waits, as on a processor.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "host/host_access.h"
#include "uml/pcidev_message.h"

namespace flitwise {

class GuestBus {
 public:
  /// The guest has a window of 16 MiB: configuration space first, 1 MiB a bus, then the addresses
  /// that it may give to devices. [UML: AREA_SHIFT]
  static constexpr std::uint64_t kBase = 0x1000'0000;
  static constexpr std::uint64_t kConfigBytes = 8 << 20;
  static constexpr std::uint64_t kBytes = 16 << 20;

  /// With what was read; ones where nobody has answered.
  using Answer = std::function<void(const std::vector<std::uint8_t>& bytes)>;

  /// `host` outlives it.
  explicit GuestBus(HostAccess& host) : host_(host) {}

  /// `answer` of a write is not called.
  void access(PciCommand command, Answer answer);
  /// Nothing waits for an answer.
  bool is_idle() const { return pending_.empty(); }
  struct Counts {
    std::uint64_t config_reads = 0, config_writes = 0, reads = 0, writes = 0, unanswered = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Pending {
    PciCommand command;
    Answer answer;
    std::vector<std::uint8_t> data;  // read so far
  };

  void perform();
  void configure(const PciCommand& command);
  void read(const PciCommand& command);
  void finish();

  HostAccess& host_;
  std::deque<Pending> pending_;
  Counts counts_;
};

}  // namespace flitwise
