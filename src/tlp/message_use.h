// SPDX-License-Identifier: Apache-2.0
/// What the standard says of messages by their Message Code: how they travel, and what a receiver
/// makes of a well-formed one that has come to its end; and which writes are interrupts. [LNK-9.22]
/// [LNK-12.3] to [LNK-12.5]
#pragma once

#include <array>
#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

enum class MessageUse : std::uint8_t {
  kTaken,
  kDiscarded,    ///< known, or not, and without any effect or error
  kUnsupported,  ///< an Unsupported Request
};

struct MessageRule {
  std::uint8_t code;
  const char* name;       ///< in events; nullptr: its code
  std::uint8_t routings;  ///< that it may have, one bit each [LNK-2.16]
  bool is_on_tc0;         ///< it travels on traffic class 0 alone [LNK-12.1]
  MessageUse at_root_port, at_device;
};

/// Assert_INTx or Deassert_INTx.
constexpr bool is_intx(std::uint8_t code) {
  return code >= msg::kAssertIntA && code < msg::kDeassertIntA + 4;
}

namespace message_rules {
constexpr std::uint8_t routing_bit(MsgRouting routing) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(routing));
}
inline constexpr std::uint8_t kUp = routing_bit(MsgRouting::kToRootComplex),
                              kById = routing_bit(MsgRouting::kById),
                              kDown = routing_bit(MsgRouting::kBroadcast),
                              kLocal = routing_bit(MsgRouting::kLocal),
                              kGathered = routing_bit(MsgRouting::kGathered), kAnyRouting = 0x3f;
inline constexpr MessageUse kTaken = MessageUse::kTaken, kDropped = MessageUse::kDiscarded,
                            kNot = MessageUse::kUnsupported;

inline constexpr MessageRule kMessageRules[] = {
    {msg::kVendorType0, "vendor_type_0", kUp | kById | kDown | kLocal, false, kNot, kNot},
    {msg::kVendorType1, "vendor_type_1", kUp | kById | kDown | kLocal, false, kDropped, kDropped},
    {msg::kUnlock, "unlock", kDown, true, kNot, kDropped},  // the device was not locked
    {msg::kInvalidateRequest, "invalidate_request", kById, false, kNot, kNot},
    {msg::kInvalidateCompletion, "invalidate_completion", kById, false, kTaken, kNot},
    {msg::kPageRequest, "page_request", kUp, false, kTaken, kNot},
    {msg::kPrgResponse, "prg_response", kById, false, kNot, kNot},
    {msg::kLtr, nullptr, kLocal, true, kNot, kNot},
    {msg::kObff, nullptr, kLocal, true, kNot, kNot},
    // The device has not asked for L1.
    {msg::kPmActiveStateNak, "pm_active_state_nak", kLocal, true, kNot, kDropped},
    {msg::kPmPme, "pm_pme", kUp, true, kTaken, kNot},
    {msg::kPmeTurnOff, "pme_turn_off", kDown, true, kNot, kTaken},
    {msg::kPmeToAck, "pme_to_ack", kGathered, true, kTaken, kNot},
    {msg::kErrCor, "err_cor", kUp, true, kTaken, kNot},
    {msg::kErrNonFatal, "err_nonfatal", kUp, true, kTaken, kNot},
    {msg::kErrFatal, "err_fatal", kUp, true, kTaken, kNot},
    {msg::kSetSlotPowerLimit, "set_slot_power_limit", kLocal, true, kNot, kTaken},
    {msg::kPtmRequest, nullptr, kLocal, true, kNot, kNot},
    {msg::kPtmResponse, nullptr, kLocal, true, kNot, kNot},
};

inline constexpr std::array<MessageRule, 256> kRuleOfCode = [] {
  std::array<MessageRule, 256> all{};
  for (unsigned i = 0; i < all.size(); ++i) {
    const auto code = static_cast<std::uint8_t>(i);
    all[i] = is_intx(code) ? MessageRule{code, nullptr, kLocal, true, kTaken, kNot}
                           : MessageRule{code, nullptr, kAnyRouting, false, kNot, kNot};
  }
  for (const unsigned code : {0x40U, 0x41U, 0x43U, 0x44U, 0x45U, 0x47U, 0x48U}) {
    all[code].at_root_port = all[code].at_device = kDropped;  // of hot plug, withdrawn
  }
  for (const MessageRule& rule : kMessageRules) {
    all[rule.code] = rule;
  }
  return all;
}();
}  // namespace message_rules

constexpr const MessageRule& message_rule(std::uint8_t code) {
  return message_rules::kRuleOfCode[code];
}

/// At a root port; has_agent: page requests and invalidations are known there.
constexpr MessageUse use_at_root_port(std::uint8_t code, bool has_agent) {
  const bool needs_agent = code == msg::kPageRequest || code == msg::kInvalidateCompletion;
  return needs_agent && !has_agent ? MessageUse::kUnsupported : message_rule(code).at_root_port;
}

/// At a device, beside what its ATC, its page requests and its handles know.
constexpr MessageUse use_at_device(const Tlp& tlp) {
  const bool is_misformed = tlp.message_code == msg::kSetSlotPowerLimit &&
                            (tlp.type != TlpType::kMsgD || tlp.length_dw != 1);
  return is_misformed ? MessageUse::kUnsupported : message_rule(tlp.message_code).at_device;
}

/// Where interrupt writes go. model: the usual x86 window of 1 MiB.
inline constexpr std::uint64_t kInterruptWindow = 0xfee0'0000;
inline constexpr std::uint64_t kInterruptWindowBytes = std::uint64_t{1} << 20;

/// True for a memory request any of whose bytes lie in the window.
constexpr bool touches_interrupt_window(const Tlp& tlp) {
  const std::uint64_t bytes = std::uint64_t{tlp.length_dw} * 4;
  return tlp.address < kInterruptWindow + kInterruptWindowBytes &&
         (tlp.address >= kInterruptWindow || bytes > kInterruptWindow - tlp.address);
}

/// True for an interrupt: one whole DW, written untranslated into the window, with the function's
/// own Requester ID and neither PASID nor handle. [LNK-9.22]
constexpr bool is_interrupt(const Tlp& tlp) {
  constexpr unsigned kWholeDw = 0xf;
  return tlp.type == TlpType::kMWr && tlp.length_dw == 1 && tlp.first_be == kWholeDw &&
         tlp.at == AddressType::kUntranslated && !tlp.has_pasid && !tlp.id_is_handle &&
         touches_interrupt_window(tlp);
}

}  // namespace flitwise
