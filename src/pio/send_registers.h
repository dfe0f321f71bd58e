// SPDX-License-Identifier: Apache-2.0
/// The registers of send contexts in BAR 0, without a clock: what an access does to the send
/// engine. docs/pio.md has the table of their fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pio/send_engine.h"

namespace flitwise {

/// A block of 128 bytes for each context, and one register that initialises contexts. model: the
/// places of registers, and those of their fields that Linux hfi1 does not give. [PIO-10.2, 10.3]
class SendRegisters {
 public:
  /// By their offset in the block of a context.
  enum Register : std::uint32_t {
    kControl = 0x00,       ///< SendCtxtCtrl: enable [0]; depth [26:16], base [45:32], read only
    kStatus = 0x08,        ///< SendCtxtStatus: halted [0]; read only
    kEgressStatus = 0x10,  ///< SendEgressCtxtStatus: packets between launch and egress; read only
    kCreditControl =
        0x18,  ///< SendCtxtCreditCtrl: threshold [10:0], early return [16], interrupt [17]
    kCreditStatus = 0x20,   ///< SendCtxtCreditStatus: last returned [10:0], free [42:32]; read only
    kCreditForce = 0x28,    ///< SendCtxtCreditForce: ForceReturn [0]
    kErrorStatus = 0x30,    ///< SendCtxtErrStatus: a bit for each SendError; read only
    kReturnAddress = 0x38,  ///< SendCtxtCreditReturnAddr: [63:6]
    kCheckVl = 0x40,        ///< SendCtxtCheckVL: VLs that the context is barred from [15:0]
  };
  static constexpr std::uint32_t kContextBytes = 128;
  /// SendPioInitCtxt: start [0], context [15:8]. It is done at once; a read says whether the last
  /// one was refused [17].
  static constexpr std::uint32_t kInitContext = kSendContexts * kContextBytes;
  static constexpr std::uint32_t kBytes = kInitContext + kQwBytes;
  static constexpr std::uint64_t kEnable = 1, kHalted = 1, kStart = 1;
  static constexpr std::uint64_t kInitRefused = std::uint64_t{1} << 17;
  static constexpr std::uint64_t kEarlyReturn = 1U << 16, kCreditInterrupt = 1U << 17;

  /// context: 0..159.
  static constexpr std::uint32_t offset_of(Register one, unsigned context) {
    return context * kContextBytes + one;
  }
  static constexpr std::uint64_t init_of(unsigned context) { return kStart | context << 8; }
  static constexpr std::uint64_t credit_control_of(const SendContextSetup& setup) {
    return setup.threshold | (setup.early_return ? kEarlyReturn : 0) |
           (setup.credit_interrupt ? kCreditInterrupt : 0);
  }

  explicit SendRegisters(SendEngine& rules) : rules_(rules) {}

  /// False: it is no write of a whole register that can be written, or the context is not set up.
  /// Nothing has changed then. offset: below kBytes.
  bool write(std::uint32_t offset, const std::uint8_t* data, std::size_t bytes);
  /// Absent: it is no read of a whole register.
  std::optional<std::uint64_t> read(std::uint32_t offset, std::size_t bytes) const;

 private:
  bool write_register(unsigned context, std::uint32_t one, std::uint64_t value);
  std::optional<std::uint64_t> read_register(unsigned context, std::uint32_t one) const;

  SendEngine& rules_;
  bool is_init_refused_ = false;
};

}  // namespace flitwise
