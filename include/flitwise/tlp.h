// SPDX-License-Identifier: Apache-2.0
/// A transaction layer packet as fields (non-flit mode): what the encoder writes and the decoder
/// gives. Payload bytes travel beside it (Packet::payload).
#pragma once

#include <array>
#include <cstdint>

#include "flitwise/ids.h"

namespace flitwise {

/// Kinds of TLP; 3DW and 4DW forms of one kind are one enumerator (Tlp::is_4dw tells them apart).
/// [LNK-1.2]
enum class TlpType : std::uint8_t {
  kMRd,
  kMRdLk,
  kMWr,
  kIORd,
  kIOWr,
  kCfgRd0,
  kCfgWr0,
  kCfgRd1,
  kCfgWr1,
  kCpl,
  kCplD,
  kCplLk,
  kCplDLk,
  kFetchAdd,
  kSwap,
  kCas,
  kDMWr,
  kMsg,
  kMsgD,
};
inline constexpr int kTlpTypes = 19;

/// Flow-control class. [LNK-1.3]
enum class FcClass : std::uint8_t { kPosted, kNonPosted, kCompletion };
inline constexpr int kFcClasses = 3;
inline constexpr FcClass kEachFcClass[kFcClasses] = {FcClass::kPosted, FcClass::kNonPosted,
                                                     FcClass::kCompletion};

enum class AddressType : std::uint8_t {
  kUntranslated,
  kTranslationRequest,
  kTranslated,
  kReserved
};
enum class CplStatus : std::uint8_t { kSC = 0, kUR = 1, kRRS = 2, kCA = 4 };
/// Routing of a message, the low three bits of its Type. [LNK-1.2]
enum class MsgRouting : std::uint8_t {
  kToRootComplex,
  kByAddress,
  kById,
  kBroadcast,
  kLocal,
  kGathered
};

namespace msg {  // Message Codes. [LNK-2.7]
inline constexpr std::uint8_t kUnlock = 0x00, kInvalidateRequest = 0x01,
                              kInvalidateCompletion = 0x02, kPageRequest = 0x04,
                              kPrgResponse = 0x05, kLtr = 0x10, kObff = 0x12,
                              kPmActiveStateNak = 0x14, kPmPme = 0x18, kPmeTurnOff = 0x19,
                              kPmeToAck = 0x1b, kAssertIntA = 0x20, kDeassertIntA = 0x24,
                              kErrCor = 0x30, kErrNonFatal = 0x31, kErrFatal = 0x33,
                              kSetSlotPowerLimit = 0x50, kPtmRequest = 0x52, kPtmResponse = 0x53,
                              kVendorType0 = 0x7e, kVendorType1 = 0x7f;
}  // namespace msg

/// All header fields of one TLP. Fields that a type does not have are zero and ignored. [LNK-1.1]
/// [LNK-2.1] [LNK-2.4] [LNK-2.5] [LNK-2.6] [LNK-3.1]
struct Tlp {
  TlpType type = TlpType::kMRd;
  bool is_4dw = false;  ///< memory and atomics: 64-bit address (messages are always 4DW)
  std::uint8_t tc = 0;  ///< traffic class, 0..7
  AddressType at = AddressType::kUntranslated;
  bool id_based_ordering = false;    ///< Attr[2], IDO
  bool relaxed_ordering = false;     ///< Attr[1], RO
  bool no_snoop = false;             ///< Attr[0], NS
  bool has_processing_hint = false;  ///< TH
  bool has_ecrc = false;             ///< TD
  bool is_poisoned = false;          ///< EP
  bool id_is_handle =
      false;  ///< kHandleBit of DW0: the identity field below holds a DHI (see tlp/identity.h)
  std::uint16_t length_dw =
      0;                  ///< 1..1024 where the type has a Length that counts; 0 only for Cpl, Msg
  std::uint16_t tag = 0;  ///< 0..1023 (T9, T8, Tag[7:0])
  Bdf requester_id;       ///< all types (completions: whom it goes to)
  std::uint8_t first_be = 0;         ///< requests
  std::uint8_t last_be = 0;          ///< requests
  std::uint8_t processing_hint = 0;  ///< PH[1:0], memory requests
  std::uint64_t address = 0;  ///< memory, I/O, atomics: byte address of the first DW, [1:0] = 0
  Bdf completer_id;           ///< completions; Cfg: the destination BDF
  std::uint16_t register_offset = 0;  ///< Cfg: byte offset of the DW in config space, 0..4092
  CplStatus status = CplStatus::kSC;  ///< completions
  bool bcm = false;                   ///< completions
  std::uint16_t byte_count = 0;       ///< completions: bytes still owed, this TLP included, 1..4096
  std::uint8_t lower_address = 0;     ///< completions: 0..127
  MsgRouting routing = MsgRouting::kToRootComplex;  ///< messages
  std::uint8_t message_code = 0;                    ///< messages
  std::uint32_t message_dw2 = 0;                    ///< messages: header DW2 and DW3 as they are
  std::uint32_t message_dw3 = 0;
  bool has_pasid = false;  ///< End-End PASID prefix present
  Pasid pasid{};
  bool privileged_mode_requested = false;  ///< PMR of the PASID prefix
  bool execute_requested = false;          ///< ER of the PASID prefix
  std::uint8_t other_prefix_count = 0;     ///< further prefixes, 0..5, local ones first
  /// model: beside four End-End prefixes one local one is kept.
  std::array<std::uint32_t, 5> other_prefixes{};
  std::uint8_t prefixes_before_pasid =
      0;  ///< further prefixes ahead of the PASID (local ones always are)
};

namespace detail {
template <class... Types>
constexpr std::uint32_t set_of(Types... types) {
  return ((1U << static_cast<unsigned>(types)) | ...);
}
constexpr bool is_in(std::uint32_t set, TlpType type) {
  return ((set >> static_cast<unsigned>(type)) & 1U) != 0;
}
inline constexpr std::uint32_t kCompletions =
    set_of(TlpType::kCpl, TlpType::kCplD, TlpType::kCplLk, TlpType::kCplDLk);
inline constexpr std::uint32_t kPostedTypes = set_of(TlpType::kMWr, TlpType::kMsg, TlpType::kMsgD);
inline constexpr std::uint32_t kAtomics = set_of(TlpType::kFetchAdd, TlpType::kSwap, TlpType::kCas);
inline constexpr std::uint32_t kMemoryRequests =
    kAtomics | set_of(TlpType::kMRd, TlpType::kMRdLk, TlpType::kMWr, TlpType::kDMWr);
inline constexpr std::uint32_t kWithData =
    kAtomics | set_of(TlpType::kMWr, TlpType::kIOWr, TlpType::kCfgWr0, TlpType::kCfgWr1,
                      TlpType::kCplD, TlpType::kCplDLk, TlpType::kDMWr, TlpType::kMsgD);
}  // namespace detail

/// True where a payload of length_dw DWs follows the header. [LNK-1.8]
constexpr bool has_data(TlpType type) {
  return detail::is_in(detail::kWithData, type);
}
constexpr bool is_completion(TlpType type) {
  return detail::is_in(detail::kCompletions, type);
}
constexpr bool is_atomic(TlpType type) {
  return detail::is_in(detail::kAtomics, type);
}
constexpr bool is_configuration(TlpType type) {
  return type >= TlpType::kCfgRd0 && type <= TlpType::kCfgWr1;
}
constexpr bool is_io(TlpType type) {
  return type == TlpType::kIORd || type == TlpType::kIOWr;
}
constexpr bool is_message(TlpType type) {
  return type == TlpType::kMsg || type == TlpType::kMsgD;
}
/// MRd, MRdLk, MWr, DMWr and the three atomics.
constexpr bool is_memory_request(TlpType type) {
  return detail::is_in(detail::kMemoryRequests, type);
}
/// A read of translations, not of data. [LNK-4.1] [ATR-01]
constexpr bool is_translation_request(const Tlp& tlp) {
  return tlp.type == TlpType::kMRd && tlp.at == AddressType::kTranslationRequest;
}
/// [LNK-1.3]
constexpr FcClass fc_class(TlpType type) {
  if (detail::is_in(detail::kPostedTypes, type)) {
    return FcClass::kPosted;
  }
  return is_completion(type) ? FcClass::kCompletion : FcClass::kNonPosted;
}
const char* name_of(TlpType type);  ///< the standard's spelling: "MRd", "CplD", ...

/// Header size without prefixes and ECRC: 12 or 16 bytes.
constexpr unsigned header_bytes(const Tlp& tlp) {
  return is_message(tlp.type) || (tlp.is_4dw && is_memory_request(tlp.type)) ? 16 : 12;
}
/// Bytes of all prefixes, 4 each.
constexpr unsigned prefix_bytes(const Tlp& tlp) {
  return 4U * (tlp.other_prefix_count + (tlp.has_pasid ? 1U : 0U));
}
/// Bytes of payload in whole DWs; 0 for types without data.
constexpr unsigned data_bytes(const Tlp& tlp) {
  return has_data(tlp.type) ? 4U * tlp.length_dw : 0U;
}
/// prefixes + header + payload in DWs + ECRC: what the data link layer wraps. [LNK-5.3]
constexpr unsigned tlp_bytes(const Tlp& tlp) {
  return prefix_bytes(tlp) + header_bytes(tlp) + data_bytes(tlp) + (tlp.has_ecrc ? 4U : 0U);
}
/// Data credits (16-byte units) the TLP takes. [LNK-8.1]
constexpr unsigned data_credits(const Tlp& tlp) {
  return (data_bytes(tlp) + 15U) / 16U;
}

/// A set bit here in DW0 (reserved since LN left) says that an identity field holds a DHI.
/// model: our choice. [LNK-1.7]
inline constexpr unsigned kHandleBit = 17;

}  // namespace flitwise
