// SPDX-License-Identifier: Apache-2.0
// Checks of decoded TLPs.
#include "tlp/tlp_check.h"

#include <algorithm>

#include "common/page.h"
#include "tlp/identity.h"
#include "tlp/message_use.h"
#include "tlp/prefix.h"

namespace flitwise {
namespace {

using Verdict = std::optional<TlpViolation>;

struct ViolationText {
  const char* name;
  const char* sentence;
};
constexpr ViolationText kTexts[kTlpViolations] = {
    {"truncated", "the bytes end inside prefixes or header"},
    {"unknown_prefix", "no prefix has this first byte"},
    {"prefix_order", "a local prefix stands after an End-End one; expected local ones first"},
    {"too_many_prefixes", "too many prefixes; expected at most four End-End ones"},
    {"repeated_pasid", "a second PASID prefix"},
    {"unknown_type", "no TLP has this Fmt and Type"},
    {"length_mismatch", "fewer bytes than Length and TD announce"},
    {"trailing_bytes", "more bytes than Length and TD announce"},
    {"ecrc_mismatch", "ECRC does not fit the bytes"},
    {"bad_byte_enables",
     "byte enables break the rules; expected Last BE 0 for one DW, else no gaps at both ends"},
    {"crosses_4kib", "the request crosses a 4 KiB boundary"},
    {"reserved_address_type", "AT is reserved, or a translation request is not an MRd"},
    {"bad_length", "the type does not allow this Length"},
    {"unaligned_atomic", "the address of an atomic is not a multiple of its operand"},
    {"bad_config_or_io_fields", "TC, AT or Attr is not 0 in an I/O or configuration request"},
    {"bad_message_routing", "the Message Code does not allow this routing"},
    {"bad_message_kind", "the Message Code does not go with, or without, data"},
    {"bad_message_class", "the Message Code travels on traffic class 0 alone"},
    {"pasid_not_permitted", "this type carries no PASID"},
    {"exceeds_mps", "the payload exceeds MPS"},
    {"pasid_not_enabled", "the receiver takes no PASID"},
    {"translated_with_pasid", "the receiver takes no PASID on translated requests"},
    {"page_message_class", "a page request or its response is not on traffic class 0"},
    {"interrupt_from_above", "an INTx message comes from above"},
};

constexpr unsigned kInvalidateRequestDw = 2;  // [LNK-4.4]

// First BE of more than one DW has no gap above its lowest byte.
constexpr bool reaches_top(unsigned be) {
  return be == 0xf || be == 0xe || be == 0xc || be == 0x8;
}
constexpr bool starts_at_bottom(unsigned be) {
  return be == 0xf || be == 0x7 || be == 0x3 || be == 0x1;
}

bool are_byte_enables_fine(const Tlp& tlp) {
  if (tlp.has_processing_hint && !has_data(tlp.type)) {  // They hold a steering tag. [LNK-2.15]
    return true;
  }
  if (is_translation_request(tlp)) {
    return tlp.first_be == 0xf && tlp.last_be == 0xf;
  }
  if (tlp.length_dw == 1) {
    return tlp.last_be == 0;
  }
  if (tlp.length_dw == 2 && (tlp.address & 4U) == 0) {  // a quadword
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
  return tlp.address % operand_bytes == 0 ? Verdict() : TlpViolation::kUnalignedAtomic;
}

// The address type comes last: what is wrong with that alone is not malformed.
Verdict check_memory_request(const Tlp& tlp) {
  if (is_atomic(tlp.type)) {
    if (const Verdict verdict = check_atomic(tlp)) {
      return verdict;
    }
  } else if (is_translation_request(tlp) && tlp.length_dw % 2 != 0) {
    return TlpViolation::kBadLength;
  } else if (!are_byte_enables_fine(tlp)) {
    return TlpViolation::kBadByteEnables;
  } else if (!is_translation_request(tlp) && crosses_4kib(tlp)) {
    return TlpViolation::kCrosses4KiB;  // where those point in their page does not matter [ATR-11]
  }
  return has_wrong_address_type(tlp) ? Verdict(TlpViolation::kReservedAddressType) : std::nullopt;
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

Verdict check_message(const Tlp& tlp) {
  const MessageRule& rule = message_rule(tlp.message_code);
  if (((rule.routings >> static_cast<unsigned>(tlp.routing)) & 1U) == 0) {
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
  if (tlp.tc != 0 && rule.is_on_tc0) {
    return TlpViolation::kBadMessageClass;
  }
  return std::nullopt;
}

std::ptrdiff_t end_end_prefixes(const Tlp& tlp) {
  const auto* const others = tlp.other_prefixes.data();
  return (tlp.has_pasid ? 1 : 0) +
         std::count_if(others, others + tlp.other_prefix_count, is_end_end_prefix);
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
  return kTexts[static_cast<std::size_t>(violation)].name;
}

const char* sentence_of(TlpViolation violation) {
  return kTexts[static_cast<std::size_t>(violation)].sentence;
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
