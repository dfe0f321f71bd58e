// SPDX-License-Identifier: Apache-2.0
/// What makes a TLP malformed: rules on its fields alone, and rules that depend on what the
/// receiver allows.
#pragma once

#include <cstdint>
#include <optional>

#include "flitwise/tlp.h"

namespace flitwise {

/// Kinds of malformed TLP. The first group comes from the bytes, the second from the fields, the
/// third from the receiver's limits.
enum class TlpViolation : std::uint8_t {
  kTruncated,        ///< the bytes end inside prefixes or header
  kUnknownPrefix,    ///< [LNK-3.3]
  kPrefixOrder,      ///< local prefix after an End-End one [LNK-3.2]
  kTooManyPrefixes,  ///< [LNK-3.2]
  kRepeatedPasid,    ///< two PASID prefixes
  kUnknownType,      ///< no kind has this Fmt and Type [LNK-1.2]
  kLengthMismatch,   ///< fewer bytes than Length and TD announce [LNK-1.4]
  kTrailingBytes,    ///< more bytes than Length and TD announce [LNK-1.4]
  kEcrcMismatch,     ///< [LNK-5.20]

  kBadByteEnables,       ///< [LNK-2.8] [LNK-2.9]
  kCrosses4KiB,          ///< [LNK-9.14]
  kReservedAddressType,  ///< AT 3, or AT 1 on what is not an MRd [LNK-1.5]
  kBadLength,            ///< Length that the kind does not allow [LNK-2.11] [LNK-2.12] [LNK-4.1]
  kUnalignedAtomic,      ///< [LNK-2.17]
  kBadConfigOrIoFields,  ///< TC, AT or Attr of an I/O or configuration request [LNK-2.11]
  kBadMessageRouting,    ///< [LNK-2.16]
  kBadMessageKind,       ///< ATS message with or without data against its code [LNK-4.4]
  kBadMessageClass,      ///< a message that travels on TC 0 alone has another [LNK-12.1]
  kPasidNotPermitted,    ///< [LNK-3.7]

  kExceedsMps,           ///< [LNK-9.15]
  kPasidNotEnabled,      ///< the receiver takes no PASID [LNK-3.7]
  kTranslatedWithPasid,  ///< PASID on AT 2 without support [LNK-3.8]
  kPageMessageClass,     ///< a Page Request or PRG Response off TC 0 [PRI-04]
  kInterruptFromAbove,   ///< Assert_INTx or Deassert_INTx that goes down [LNK-12.2]
};
inline constexpr int kTlpViolations = 24;

const char* name_of(TlpViolation violation);  ///< "truncated", "crosses_4kib", ...

/// What was broken, for people: "a memory request crosses a 4 KiB boundary".
const char* sentence_of(TlpViolation violation);

/// What a receiver takes. MRRS is none of it: it binds whoever reads. Unit: byte; 0 leaves the rule
/// out. [LNK-9.15]
struct TlpLimits {
  unsigned mps = 256;
  unsigned max_end_end_prefixes = 4;
  bool has_pasid = true;             ///< PASID prefixes are taken
  bool has_translated_pasid = true;  ///< also on translated requests
  bool is_end = true;                ///< false: a switch, which passes messages on
  bool is_below = false;             ///< the port looks up: what it takes comes from above
};

/// AT of a memory request is reserved, or asks for translations of anything but an MRd; other kinds
/// have no AT. [LNK-1.5] [ATR-03] [ATR-04] [ATR-05]
constexpr bool has_wrong_address_type(const Tlp& tlp) {
  const bool is_right = tlp.at == AddressType::kUntranslated ||
                        tlp.at == AddressType::kTranslated || is_translation_request(tlp);
  return !is_right && is_memory_request(tlp.type);
}

/// Its data is said to be wrong. [LNK-1.6]
constexpr bool has_poisoned_data(const Tlp& tlp) {
  return tlp.is_poisoned && has_data(tlp.type);
}
inline constexpr bool kTranslatedPasidNeedsSupport = true;  // unverified [LNK-3.8]

/// The first rule on fields alone that the TLP breaks. [LNK-9.17]
std::optional<TlpViolation> check_format(const Tlp& tlp);
/// Whether a receiver drops it as malformed; a wrong AT makes it an unsupported request where its
/// way ends. [ATR-03] [ATR-04] [ATR-05]
constexpr bool is_malformed(TlpViolation violation) {
  return violation != TlpViolation::kReservedAddressType;
}

/// The first rule of all that the TLP breaks, the receiver's limits included. Runs once per
/// received TLP. [LNK-9.15] [LNK-9.17]
std::optional<TlpViolation> check_tlp(const Tlp& tlp, const TlpLimits& limits);

}  // namespace flitwise
