// SPDX-License-Identifier: Apache-2.0
// Decode of the handle register block. [DHI D12]
#include "dhi/handle_registers.h"

namespace flitwise {
namespace reg = handle_register;

std::uint32_t HandleRegisters::read(std::uint32_t offset) const {
  if (offset == reg::kIdent || offset == reg::kStatus) {
    return offset == reg::kIdent ? reg::kIdentValue : status_;
  }
  return is_plain(offset) ? plain_[index_of(offset)] : 0;  // the command register reads zero
}

std::optional<HandleCommand> HandleRegisters::write(std::uint32_t offset, std::uint32_t value) {
  if (is_plain(offset)) {
    plain_[index_of(offset)] = value;
  }
  if (offset != reg::kCommand) {
    return std::nullopt;
  }
  std::optional<HandleCommand> command = is_busy() ? std::nullopt : decode(value);
  status_ = command ? reg::kBusy : (status_ | reg::kBadCommand);
  return command;
}

std::optional<HandleCommand> HandleRegisters::decode(std::uint32_t command) const {
  const std::uint32_t code = command & 0xfU;
  if ((command & 0xffff'00f0U) != 0 || code < reg::kAlloc || code > reg::kDeallocAll) {
    return std::nullopt;
  }
  const auto epoch = static_cast<std::uint8_t>(command >> 8);
  return code == reg::kAlloc ? decode_alloc(epoch) : decode_dealloc(code, epoch);
}

std::optional<HandleCommand> HandleRegisters::decode_alloc(std::uint8_t epoch) const {
  const std::uint32_t handle = plain(reg::kHandle), identity = plain(reg::kIdentity),
                      pasid = plain(reg::kPasid);
  constexpr std::uint32_t kFields =
      kHandleMask | reg::kPasidSupported | reg::kTrusted | reg::kPmr | reg::kEr;
  const bool has_pasid = (handle & reg::kPasidSupported) != 0;
  const bool names_process = pasid != 0 || (handle & (reg::kPmr | reg::kEr)) != 0;
  const std::optional<ContextId> context = ContextId::of_word(plain(reg::kUpper));
  if ((handle & ~kFields) != 0 || (pasid >> kPasidBits) != 0 || (!has_pasid && names_process) ||
      !context) {
    return std::nullopt;
  }
  const DeviceIdentity named(Bdf{static_cast<std::uint16_t>(identity)},
                             has_pasid ? OptionalId<Pasid>(Pasid{pasid}) : std::nullopt,
                             (handle & reg::kPmr) != 0, (handle & reg::kEr) != 0);
  return AllocMessage{Dhi{static_cast<std::uint16_t>(handle & kHandleMask)},
                      named,
                      (handle & reg::kTrusted) != 0,
                      static_cast<std::uint16_t>(identity >> 16),
                      epoch,
                      *context};
}

std::optional<HandleCommand> HandleRegisters::decode_dealloc(std::uint32_t code,
                                                             std::uint8_t epoch) const {
  const std::uint32_t lower = plain(reg::kHandle) & 0xffffU, upper = plain(reg::kUpper);
  const bool is_range = code == reg::kDeallocRange, is_one = code == reg::kDeallocOne;
  if (((is_one || is_range) && lower > kHandleMask) ||
      (is_range && (upper > kHandleMask || upper < lower))) {
    return std::nullopt;
  }
  DeallocMessage message;
  message.scope = static_cast<DeallocScope>(code - reg::kDeallocOne);
  message.epoch = epoch;
  if (is_one || is_range) {
    message.dhi = Dhi{static_cast<std::uint16_t>(lower)};
    message.upper = is_range ? Dhi{static_cast<std::uint16_t>(upper)} : Dhi{};
  } else {
    message.function.value = static_cast<std::uint16_t>(plain(reg::kIdentity));
  }
  return message;
}

}  // namespace flitwise
