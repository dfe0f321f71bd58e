// SPDX-License-Identifier: Apache-2.0
/// What software does about a send context that is in error or was reset with its device, by its
/// registers: step for step, each access with its way through root port and link. [PIO-9.7, 9.9]
#pragma once

#include <cstdint>
#include <functional>

#include "flitwise/time.h"
#include "host/host_access.h"
#include "pio/send_registers.h"

namespace flitwise {

/// How a thread reaches the registers and the memory of its contexts.
struct RecoveryAccess {
  HostAccess* host = nullptr;
  std::function<std::uint64_t()> registers;             ///< their address, once BARs have theirs
  std::function<void(std::uint64_t address)> set_to_0;  /// eight bytes of host memory
  Time poll{};                                          ///< between two looks at a register
};

class ContextRecovery {
 public:
  enum class Outcome : std::uint8_t {
    kBegunAnew,
    kNotHalted,  ///< the word that said so was older than its last initialisation
    kDeviceGone  ///< its registers could not be read for kPatience
  };
  using Done = std::function<void(Outcome)>;
  /// model: so long software waits for a device that is not there.
  static constexpr Time kPatience = Time::from_us(1000);

  explicit ContextRecovery(RecoveryAccess access) : access_(std::move(access)) {}

  /// Memory says that the context is in error, or the device was reset, and nobody writes to it any
  /// more. shadow: where its credits return. REQUIRES: not is_active().
  void start(unsigned context, std::uint64_t shadow, bool was_reset, Done done);
  /// The device is reset meanwhile: all begins again. REQUIRES: is_active().
  void device_was_reset() { was_reset_ = begins_again_ = true; }
  /// When it gives up, as things are; 0: nothing makes it.
  Time gives_up_at() const {
    return gone_since_ == Time::never() ? Time{} : gone_since_ + kPatience;
  }
  bool is_active() const { return step_ != nullptr; }
  /// What it waits for; null: it is not active.
  const char* step() const { return step_; }

 private:
  void see_halt();
  void await_drained();
  void initialise();
  void await_enabled();
  void await_device();
  void end(Outcome outcome);
  void read(std::uint32_t offset, std::function<void(std::uint64_t)> then);
  void write(SendRegisters::Register one, std::uint64_t value);
  std::uint32_t offset_of(SendRegisters::Register one) const {
    return SendRegisters::offset_of(one, context_);
  }

  const RecoveryAccess access_;
  unsigned context_ = 0;
  std::uint64_t shadow_ = 0;
  Done done_;
  const char* step_ = nullptr;
  bool was_reset_ = false, begins_again_ = false;
  Time gone_since_ = Time::never();  // the registers cannot be read
};

}  // namespace flitwise
