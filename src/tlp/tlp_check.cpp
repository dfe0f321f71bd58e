// SPDX-License-Identifier: Apache-2.0
// Checks of decoded TLPs.
#include "tlp/tlp_check.h"

#include <array>

#include "common/page.h"
#include "tlp/header_layout.h"
#include "tlp/identity.h"
#include "tlp/prefix.h"

namespace flitwise {
namespace {

using Verdict = std::optional<TlpViolation>;

constexpr unsigned kInvalidateRequestDw = 2;  // [LNK-4.4]

// First BE of more than one DW has no gap above its lowest byte.
constexpr bool reaches_top(unsigned be) {
  return be == 0xf || be == 0xe || be == 0xc || be == 0x8;
}
constexpr bool starts_at_bottom(unsigned be) {
  return be == 0xf || be == 0x7 || be == 0x3 || be == 0x1;
}

bool are_byte_enables_fine(const Tlp& tlp) {
  const bool hint_in_byte_enables = tlp.has_processing_hint && !has_data(tlp.type);
  if (hint_in_byte_enables) {  // They hold a steering tag. [LNK-2.15]
    return true;
  }
  if (is_translation_request(tlp)) {
    return tlp.first_be == 0xf && tlp.last_be == 0xf;
  }
  if (tlp.length_dw == 1) {
    return tlp.last_be == 0;
  }
  const bool quadword = tlp.length_dw == 2 && (tlp.address & 4U) == 0;
  if (quadword) {
    return tlp.first_be != 0 && tlp.last_be != 0;
  }
  return reaches_top(tlp.first_be) && starts_at_bottom(tlp.last_be);
}

bool crosses_4kib(const Tlp& tlp) {
  return (tlp.address & (kPageBytes - 1)) + 4U * tlp.length_dw > kPageBytes;
}

// [LNK-2.12] [LNK-2.17]
Verdict check_atomic(const Tlp& tlp) {
  const unsigned dws = tlp.length_dw;
  const bool is_cas = tlp.type == TlpType::kCas;
  if (is_cas ? dws != 2 && dws != 4 && dws != 8 : dws != 1 && dws != 2) {
    return TlpViolation::kBadLength;
  }
  const unsigned operand_bytes = 4U * dws / (is_cas ? 2U : 1U);
  if (tlp.address % operand_bytes != 0) {
    return TlpViolation::kUnalignedAtomic;
  }
  return std::nullopt;
}

Verdict check_address_type(const Tlp& tlp) {
  return has_wrong_address_type(tlp) ? Verdict(TlpViolation::kReservedAddressType) : std::nullopt;
}

// The address type comes last: what is wrong with that alone is not malformed.
Verdict check_memory_request(const Tlp& tlp) {
  if (is_atomic(tlp.type)) {
    const Verdict verdict = check_atomic(tlp);
    return verdict ? verdict : check_address_type(tlp);
  }
  if (is_translation_request(tlp) && tlp.length_dw % 2 != 0) {
    return TlpViolation::kBadLength;
  }
  if (!are_byte_enables_fine(tlp)) {
    return TlpViolation::kBadByteEnables;
  }
  // Where a translation request points within its page does not matter. [ATR-11]
  if (!is_translation_request(tlp) && crosses_4kib(tlp)) {
    return TlpViolation::kCrosses4KiB;
  }
  return check_address_type(tlp);
}

// [LNK-2.11]
Verdict check_config_or_io(const Tlp& tlp) {
  if (tlp.length_dw != 1) {
    return TlpViolation::kBadLength;
  }
  if (tlp.last_be != 0) {
    return TlpViolation::kBadByteEnables;
  }
  if (tlp.tc != 0 || tlp.at != AddressType::kUntranslated || tlp.id_based_ordering ||
      tlp.relaxed_ordering || tlp.no_snoop) {
    return TlpViolation::kBadConfigOrIoFields;
  }
  return std::nullopt;
}

constexpr unsigned routings(MsgRouting a) {
  return 1U << static_cast<unsigned>(a);
}

bool is_intx(std::uint8_t code) {
  return code >= msg::kAssertIntA && code < msg::kDeassertIntA + 4;
}

// Routings that a Message Code may have, one bit each. [LNK-2.16]
unsigned allowed_routings(std::uint8_t code) {
  switch (code) {
    case msg::kUnlock:
    case msg::kPmeTurnOff:
      return routings(MsgRouting::kBroadcast);
    case msg::kInvalidateRequest:
    case msg::kInvalidateCompletion:
    case msg::kPrgResponse:
      return routings(MsgRouting::kById);
    case msg::kPageRequest:
    case msg::kPmPme:
    case msg::kErrCor:
    case msg::kErrNonFatal:
    case msg::kErrFatal:
      return routings(MsgRouting::kToRootComplex);
    case msg::kPmeToAck:
      return routings(MsgRouting::kGathered);
    case msg::kLtr:
    case msg::kObff:
    case msg::kPmActiveStateNak:
    case msg::kSetSlotPowerLimit:
    case msg::kPtmRequest:
    case msg::kPtmResponse:
      return routings(MsgRouting::kLocal);
    case msg::kVendorType0:
    case msg::kVendorType1:
      return routings(MsgRouting::kToRootComplex) | routings(MsgRouting::kById) |
             routings(MsgRouting::kBroadcast) | routings(MsgRouting::kLocal);
    default:
      return is_intx(code) ? routings(MsgRouting::kLocal) : 0x3fU;
  }
}

// [LNK-12.1]
bool travels_on_tc0(std::uint8_t code) {
  switch (code) {
    case msg::kUnlock:
    case msg::kLtr:
    case msg::kObff:
    case msg::kPmActiveStateNak:
    case msg::kPmPme:
    case msg::kPmeTurnOff:
    case msg::kPmeToAck:
    case msg::kErrCor:
    case msg::kErrNonFatal:
    case msg::kErrFatal:
    case msg::kSetSlotPowerLimit:
    case msg::kPtmRequest:
    case msg::kPtmResponse:
      return true;
    default:
      return is_intx(code);
  }
}

Verdict check_message(const Tlp& tlp) {
  if (((allowed_routings(tlp.message_code) >> static_cast<unsigned>(tlp.routing)) & 1U) == 0) {
    return TlpViolation::kBadMessageRouting;
  }
  const bool is_invalidate_request = tlp.message_code == msg::kInvalidateRequest;
  const bool is_plain_ats = tlp.message_code == msg::kInvalidateCompletion ||
                            tlp.message_code == msg::kPageRequest ||
                            tlp.message_code == msg::kPrgResponse;
  if ((is_invalidate_request && tlp.type != TlpType::kMsgD) ||
      (is_plain_ats && tlp.type != TlpType::kMsg)) {
    return TlpViolation::kBadMessageKind;
  }
  if (is_invalidate_request && tlp.length_dw != kInvalidateRequestDw) {
    return TlpViolation::kBadLength;
  }
  if (tlp.tc != 0 && travels_on_tc0(tlp.message_code)) {
    return TlpViolation::kBadMessageClass;
  }
  return std::nullopt;
}

unsigned end_end_prefixes(const Tlp& tlp) {
  unsigned count = tlp.has_pasid ? 1 : 0;
  for (unsigned i = 0; i < tlp.other_prefix_count; ++i) {
    count += is_end_end_prefix(tlp.other_prefixes[i]) ? 1U : 0U;
  }
  return count;
}

// What nearly every request is: no rule below has anything against it.
bool is_plain(const Tlp& tlp, unsigned mps) {
  const bool is_usual_type = tlp.type == TlpType::kMWr || tlp.type == TlpType::kMRd;
  const bool is_usual_address = (static_cast<unsigned>(tlp.at) & 1U) == 0;  // not 1 and not 3
  return is_usual_type && is_usual_address && !tlp.has_pasid && tlp.other_prefix_count == 0 &&
         (tlp.first_be & tlp.last_be) == 0xf && tlp.length_dw > 1 && !crosses_4kib(tlp) &&
         data_bytes(tlp) <= mps;
}

bool is_page_message(const Tlp& tlp) {
  return tlp.type == TlpType::kMsg &&
         (tlp.message_code == msg::kPageRequest || tlp.message_code == msg::kPrgResponse);
}

}  // namespace

const char* name_of(TlpViolation violation) {
  static constexpr std::array<const char*, kTlpViolations> kNames = {"truncated",
                                                                     "unknown_prefix",
                                                                     "prefix_order",
                                                                     "too_many_prefixes",
                                                                     "repeated_pasid",
                                                                     "unknown_type",
                                                                     "length_mismatch",
                                                                     "trailing_bytes",
                                                                     "ecrc_mismatch",
                                                                     "bad_byte_enables",
                                                                     "crosses_4kib",
                                                                     "reserved_address_type",
                                                                     "bad_length",
                                                                     "unaligned_atomic",
                                                                     "bad_config_or_io_fields",
                                                                     "bad_message_routing",
                                                                     "bad_message_kind",
                                                                     "bad_message_class",
                                                                     "pasid_not_permitted",
                                                                     "exceeds_mps",
                                                                     "pasid_not_enabled",
                                                                     "translated_with_pasid",
                                                                     "page_message_class",
                                                                     "interrupt_from_above"};
  return kNames[static_cast<std::size_t>(violation)];
}

const char* sentence_of(TlpViolation violation) {
  static constexpr std::array<const char*, kTlpViolations> kSentences = {
      "the bytes end inside prefixes or header",
      "no prefix has this first byte",
      "a local prefix stands after an End-End one; expected local ones first",
      "too many prefixes; expected at most four End-End ones",
      "a second PASID prefix",
      "no TLP has this Fmt and Type",
      "fewer bytes than Length and TD announce",
      "more bytes than Length and TD announce",
      "ECRC does not fit the bytes",
      "byte enables break the rules; expected Last BE 0 for one DW, else no gaps at both ends",
      "the request crosses a 4 KiB boundary",
      "AT is reserved, or a translation request is not an MRd",
      "the type does not allow this Length",
      "the address of an atomic is not a multiple of its operand",
      "TC, AT or Attr is not 0 in an I/O or configuration request",
      "the Message Code does not allow this routing",
      "the Message Code does not go with, or without, data",
      "the Message Code travels on traffic class 0 alone",
      "this type carries no PASID",
      "the payload exceeds MPS",
      "the receiver takes no PASID",
      "the receiver takes no PASID on translated requests",
      "a page request or its response is not on traffic class 0",
      "an INTx message comes from above"};
  return kSentences[static_cast<std::size_t>(violation)];
}

std::optional<TlpViolation> check_format(const Tlp& tlp) {
  if (tlp.has_pasid && !may_carry_pasid(tlp)) {
    return TlpViolation::kPasidNotPermitted;
  }
  if (is_memory_request(tlp.type)) {
    return check_memory_request(tlp);
  }
  if (is_configuration(tlp.type) || is_io(tlp.type)) {
    return check_config_or_io(tlp);
  }
  return is_message(tlp.type) ? check_message(tlp) : std::nullopt;
}

std::optional<TlpViolation> check_tlp(const Tlp& tlp, const TlpLimits& limits) {
  if (is_plain(tlp, limits.mps)) {
    return std::nullopt;
  }
  const Verdict format = check_format(tlp);
  if (format && is_malformed(*format)) {
    return format;
  }
  if (limits.mps != 0 && data_bytes(tlp) > limits.mps) {
    return TlpViolation::kExceedsMps;
  }
  if (tlp.has_pasid && !limits.has_pasid) {
    return TlpViolation::kPasidNotEnabled;
  }
  if (kTranslatedPasidNeedsSupport && tlp.has_pasid && tlp.at == AddressType::kTranslated &&
      !limits.has_translated_pasid) {
    return TlpViolation::kTranslatedWithPasid;
  }
  if (end_end_prefixes(tlp) > limits.max_end_end_prefixes) {
    return TlpViolation::kTooManyPrefixes;
  }
  if (limits.is_end && tlp.tc != 0 && is_page_message(tlp)) {
    return TlpViolation::kPageMessageClass;
  }
  if (limits.is_below && is_message(tlp.type) && is_intx(tlp.message_code)) {
    return TlpViolation::kInterruptFromAbove;
  }
  return format;
}

}  // namespace flitwise
