// SPDX-License-Identifier: Apache-2.0
/// The registers of send contexts in BAR 0 behind the clock of the PCIe interface: writes act, and
/// reads are looked up, a crossing after they came, in their order; answers come back a crossing
/// later. A part of PioEngine, which wakes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/due_queue.h"
#include "endpoint/bar_access.h"
#include "flitwise/time.h"
#include "pio/send_registers.h"

namespace flitwise {

class RegisterPort {
 public:
  /// crossing: between the clocks of send memory and of the PCIe interface.
  RegisterPort(SendEngine& rules, Time crossing) : registers_(rules), crossing_(crossing) {}

  /// A write has come over. offset: from the first register on.
  void write(std::uint32_t offset, const std::uint8_t* bytes, std::size_t size) {
    refused_ += registers_.write(offset, bytes, size) ? 0 : 1;
  }
  /// Software reads. base: of the registers in BAR 0. The caller looks at next().
  void read(const MmioRead& read, std::uint64_t base, BarAccess& access, Time now);
  /// A write that is under way gets lost. [PIO-9.9]
  void lose() { ++refused_; }
  /// The device has been reset: whoever has read gets ones at once.
  void forget(Time now);
  /// Looks up and answers what is due. What was written before a read has been done by then.
  void work(Time now);
  Time next() const { return std::min(reads_.next(), answers_.next()); }
  bool is_quiet() const { return reads_.empty() && answers_.empty(); }
  /// Accesses that no register takes, and writes that a reset has met. [PIO-10.2] [PIO-9.9]
  std::uint64_t refused() const { return refused_; }

 private:
  struct Read {
    MmioRead read;
    std::uint32_t offset = 0;
    BarAccess* access = nullptr;
  };
  struct Answer {
    MmioRead read;
    BarAccess* access = nullptr;
    std::uint64_t value = 0;
    bool is_refused = false;
  };

  SendRegisters registers_;
  const Time crossing_;
  DueQueue<Read> reads_;
  DueQueue<Answer> answers_;
  std::uint64_t refused_ = 0;
};

}  // namespace flitwise
