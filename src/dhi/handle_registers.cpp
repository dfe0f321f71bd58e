// SPDX-License-Identifier: Apache-2.0
// Decode of the handle register block. [DHI D12]
#include "dhi/handle_registers.h"

namespace flitwise {
namespace reg = handle_register;

std::uint32_t HandleRegisters::read(std::uint32_t offset) const {
  switch (offset) {
    case reg::kIdent:
      return reg::kIdentValue;
    case reg::kHandle:
      return handle_;
    case reg::kIdentity:
      return identity_;
    case reg::kPasid:
      return pasid_;
    case reg::kUpper:
      return upper_;
    case reg::kStatus:
      return status_;
    default:
      return 0;  // The command register reads zero.
  }
}

std::optional<HandleCommand> HandleRegisters::write(std::uint32_t offset, std::uint32_t value) {
  switch (offset) {
    case reg::kHandle:
      handle_ = value;
      return std::nullopt;
    case reg::kIdentity:
      identity_ = value;
      return std::nullopt;
    case reg::kPasid:
      pasid_ = value;
      return std::nullopt;
    case reg::kUpper:
      upper_ = value;
      return std::nullopt;
    case reg::kCommand:
      break;
    default:
      return std::nullopt;
  }
  std::optional<HandleCommand> command = is_busy() ? std::nullopt : decode(value);
  status_ = command ? reg::kBusy : (status_ | reg::kBadCommand);
  return command;
}

void HandleRegisters::finish(HandleStatus status) {
  status_ = static_cast<std::uint32_t>(status) | (status_ & reg::kBadCommand);
}

std::optional<HandleCommand> HandleRegisters::decode(std::uint32_t command) const {
  const std::uint32_t code = command & 0xfU;
  if ((command & 0xffff'00f0U) != 0 || code < reg::kAlloc || code > reg::kDeallocAll) {
    return std::nullopt;
  }
  const auto epoch = static_cast<std::uint8_t>(command >> 8);
  if (code == reg::kAlloc) {
    return decode_alloc(epoch);
  }
  return decode_dealloc(code, epoch);
}

std::optional<HandleCommand> HandleRegisters::decode_alloc(std::uint8_t epoch) const {
  constexpr std::uint32_t kFields =
      kHandleMask | reg::kPasidSupported | reg::kTrusted | reg::kPmr | reg::kEr;
  const bool has_pasid = (handle_ & reg::kPasidSupported) != 0;
  const bool names_process = pasid_ != 0 || (handle_ & (reg::kPmr | reg::kEr)) != 0;
  if ((handle_ & ~kFields) != 0 || (pasid_ >> kPasidBits) != 0 || (!has_pasid && names_process)) {
    return std::nullopt;
  }
  AllocMessage message;
  message.dhi = Dhi{static_cast<std::uint16_t>(handle_ & kHandleMask)};
  message.identity.bdf.value = static_cast<std::uint16_t>(identity_);
  if (has_pasid) {
    message.identity.pasid = Pasid{pasid_};
  }
  message.identity.privileged_mode_requested = (handle_ & reg::kPmr) != 0;
  message.identity.execute_requested = (handle_ & reg::kEr) != 0;
  message.is_trusted = (handle_ & reg::kTrusted) != 0;
  message.capabilities = static_cast<std::uint16_t>(identity_ >> 16);
  message.epoch = epoch;
  return message;
}

std::optional<HandleCommand> HandleRegisters::decode_dealloc(std::uint32_t code,
                                                             std::uint8_t epoch) const {
  DeallocMessage message;
  message.epoch = epoch;
  const std::uint32_t lower = handle_ & 0xffffU;
  const bool names_handle = code == reg::kDeallocOne || code == reg::kDeallocRange;
  if (names_handle && lower > kHandleMask) {
    return std::nullopt;
  }
  switch (code) {
    case reg::kDeallocOne:
      message.scope = DeallocScope::kOne;
      message.dhi = Dhi{static_cast<std::uint16_t>(lower)};
      return message;
    case reg::kDeallocRange:
      if (upper_ > kHandleMask || upper_ < lower) {
        return std::nullopt;
      }
      message.scope = DeallocScope::kRange;
      message.dhi = Dhi{static_cast<std::uint16_t>(lower)};
      message.upper = Dhi{static_cast<std::uint16_t>(upper_)};
      return message;
    case reg::kDeallocFunction:
      message.scope = DeallocScope::kFunction;
      message.function.value = static_cast<std::uint16_t>(identity_);
      return message;
    default:
      message.scope = DeallocScope::kAll;
      message.function.value = static_cast<std::uint16_t>(identity_);
      return message;
  }
}

}  // namespace flitwise
