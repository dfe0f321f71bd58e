// SPDX-License-Identifier: Apache-2.0
/// What a receiver makes of a well-formed message that has come to its end, by Message Code.
/// [LNK-12.3] to [LNK-12.5]
#pragma once

#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

enum class MessageUse : std::uint8_t {
  kTaken,
  kDiscarded,    ///< known, or not, and without any effect or error
  kUnsupported,  ///< an Unsupported Request
};

namespace detail {
/// Codes of hot-plug messages that were withdrawn, and vendor messages of type 1.
constexpr bool is_discarded(std::uint8_t code) {
  switch (code) {
    case 0x40:
    case 0x41:
    case 0x43:
    case 0x44:
    case 0x45:
    case 0x47:
    case 0x48:
    case msg::kVendorType1:
      return true;
    default:
      return false;
  }
}
}  // namespace detail

/// At a root port; has_agent: page requests and invalidations are known there.
constexpr MessageUse use_at_root_port(std::uint8_t code, bool has_agent) {
  switch (code) {
    case msg::kErrCor:
    case msg::kErrNonFatal:
    case msg::kErrFatal:
    case msg::kPmPme:
    case msg::kPmeToAck:
      return MessageUse::kTaken;
    case msg::kPageRequest:
    case msg::kInvalidateCompletion:
      return has_agent ? MessageUse::kTaken : MessageUse::kUnsupported;
    default:
      break;
  }
  if (code >= msg::kAssertIntA && code < msg::kDeassertIntA + 4) {
    return MessageUse::kTaken;
  }
  return detail::is_discarded(code) ? MessageUse::kDiscarded : MessageUse::kUnsupported;
}

/// At a device, beside what its ATC, its page requests and its handles know.
constexpr MessageUse use_at_device(const Tlp& tlp) {
  switch (tlp.message_code) {
    case msg::kPmeTurnOff:
      return MessageUse::kTaken;
    case msg::kSetSlotPowerLimit:
      return tlp.type == TlpType::kMsgD && tlp.length_dw == 1 ? MessageUse::kTaken
                                                              : MessageUse::kUnsupported;
    case msg::kUnlock:
    case msg::kPmActiveStateNak:
      return MessageUse::kDiscarded;  // it was not locked, and has not asked for L1
    default:
      return detail::is_discarded(tlp.message_code) ? MessageUse::kDiscarded
                                                    : MessageUse::kUnsupported;
  }
}

}  // namespace flitwise
