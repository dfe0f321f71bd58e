// SPDX-License-Identifier: Apache-2.0
#include "pio/send_registers.h"

#include <boost/endian/conversion.hpp>

namespace flitwise {
namespace {

bool is_whole(std::uint32_t offset, std::size_t bytes) {
  return offset % kQwBytes == 0 && bytes == kQwBytes;
}

}  // namespace

bool SendRegisters::write(std::uint32_t offset, const std::uint8_t* data, std::size_t bytes) {
  if (!is_whole(offset, bytes)) {
    return false;
  }
  const std::uint64_t value = boost::endian::load_little_u64(data);
  if (offset != kInitContext) {
    return write_register(offset / kContextBytes, offset % kContextBytes, value);
  }
  const auto context = static_cast<unsigned>(value >> 8 & 0xffU);
  if ((value & kStart) != 0) {
    is_init_refused_ = context >= kSendContexts || !rules_.initialise(context);
  }
  return true;
}

bool SendRegisters::write_register(unsigned context, std::uint32_t one, std::uint64_t value) {
  const bool is_on = (value & 1U) != 0;
  switch (one) {
    case kControl:
      if (is_on) {
        return rules_.enable(context);
      }
      rules_.disable(context);
      return true;
    case kCreditControl:
      rules_.set_threshold(context, static_cast<std::uint16_t>(value % kCreditRing));
      rules_.set_early_return(context, (value & kEarlyReturn) != 0);
      rules_.set_credit_interrupt(context, (value & kCreditInterrupt) != 0);
      return true;
    case kCreditForce: rules_.force(context, is_on); return true;
    case kReturnAddress:
      rules_.set_return_address(context, value / kSendBlockBytes * kSendBlockBytes);
      return true;
    case kCheckVl: rules_.set_barred_vls(context, static_cast<std::uint16_t>(value)); return true;
    default: return false;
  }
}

std::optional<std::uint64_t> SendRegisters::read(std::uint32_t offset, std::size_t bytes) const {
  if (!is_whole(offset, bytes)) {
    return std::nullopt;
  }
  if (offset == kInitContext) {
    return is_init_refused_ ? kInitRefused : 0;
  }
  return read_register(offset / kContextBytes, offset % kContextBytes);
}

std::optional<std::uint64_t> SendRegisters::read_register(unsigned number,
                                                          std::uint32_t one) const {
  const SendContext& context = rules_.context(number);
  const SendContextSetup& setup = context.setup();
  switch (one) {
    case kControl:
      return std::uint64_t{setup.base} << 32 | setup.depth << 16 | (context.is_enabled() ? 1U : 0U);
    case kStatus: return context.is_halted() ? kHalted : 0;
    case kEgressStatus: return context.packets_out();
    case kCreditControl: return credit_control_of(setup);
    case kCreditStatus:
      return context.freed() % kCreditRing << 32 | context.returned() % kCreditRing;
    case kCreditForce: return context.is_forced() ? 1U : 0U;
    case kErrorStatus: {
      std::uint64_t bits = 0;
      for (int i = 0; i < kSendErrors; ++i) {
        bits |= context.has_error(static_cast<SendError>(i)) ? 1U << i : 0U;
      }
      return bits;
    }
    case kReturnAddress: return rules_.return_address(number);
    case kCheckVl: return context.barred_vls();
    default: return std::nullopt;
  }
}

}  // namespace flitwise
