// SPDX-License-Identifier: Apache-2.0
/// Messages as bits in a slot, and back, by their fields in the order in which they stand: that of
/// the published tables, lowest bit first. unverified [CXL-1.3] [CXL-1.4] [CXL-1.7]
#pragma once

#include <cstddef>
#include <cstdint>

#include "cxl/channels.h"

namespace flitwise {

enum class CxlField : std::uint8_t {
  kValid,
  kOpcode,
  kId,       ///< CQID, UQID, Tag or BITag
  kAddress,  ///< of a line; 47 bits go down to bit 5, 2 bits are [7:6]
  kRspData,
  kRspPre,
  kSnpType,
  kMetaField,
  kMetaValue,
  kTrafficClass,
  kLdId,
  kCacheId,
  kCkid,
  kBiId,
  kDevLoad,
  kNonTemporal,
  kPoison,
  kBogus,
  kGoErr,
  kChunkValid,
  kByteEnables,  ///< byte enables go with the line (BEP, TRP)
  kTrailer,      ///< DRS: something else goes with the line; not modelled
  kReserved,     ///< where a D2H Req may have bits of its identity [CXL-1.5]
};

struct CxlFieldSpec {
  CxlField field;
  std::uint8_t bits;
};
using CxlFields = CxlRows<CxlFieldSpec>;

/// Empty where flits of this form have no such message.
CxlFields fields_of(CxlFlitForm form, CxlChannel channel);

/// Lowest address bit that a field of so many bits has.
constexpr std::uint32_t lowest_address_bit(std::uint32_t field_bits) {
  constexpr std::uint32_t kRequestWithHalfLines = 47;
  return field_bits == kRequestWithHalfLines ? 5 : 6;
}

/// The name of a field in JSON; null where it is none of its own.
const char* name_of(CxlField field, CxlChannel channel);

/// A message as its bits tell it: byte enables themselves come with its line.
struct CxlWireMessage {
  CxlMessage message;
  bool is_valid = true;           ///< V
  bool has_byte_enables = false;  ///< 256-byte flits: BEP of D2H Data, TRP of M2S RwD
  bool has_trailer = false;       ///< 256-byte flits: TRP of S2M DRS
};
/// A field as a number; 0 for reserved bits.
std::uint64_t value_of(const CxlWireMessage& wire, CxlFieldSpec spec);
/// Sets the field, which has no more bits than the specification says.
void set_value(CxlWireMessage& wire, CxlFieldSpec spec, std::uint64_t value);

// Numbers in a string of bits: the lowest bit of the first byte comes first. unverified [CXL-1.7]
/// count: at most 64.
inline std::uint64_t bits_at(const std::uint8_t* bytes, std::size_t at, std::uint32_t count) {
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < count; ++i, ++at) {
    value |= static_cast<std::uint64_t>(bytes[at / 8] >> (at % 8) & 1U) << i;
  }
  return value;
}

/// REQUIRES: the bits there are 0.
inline void put_bits(std::uint8_t* bytes, std::size_t at, std::uint32_t count,
                     std::uint64_t value) {
  for (std::uint32_t i = 0; i < count; ++i, ++at) {
    bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (value >> i & 1U) << (at % 8));
  }
}

/// Bits of an identity that a D2H Req can have here.
inline constexpr std::uint32_t kMostIdentityBits = 64;

/// Puts widths.of(channel) bits at bit `at`, which are 0 before. Fields beyond their width are cut.
void put_message(const CxlWireMessage& wire, const CxlWidths& widths, std::uint8_t* bytes,
                 std::size_t at);
/// Any bits make a message; reserved ones are ignored.
CxlWireMessage message_at(CxlChannel channel, const CxlWidths& widths, const std::uint8_t* bytes,
                          std::size_t at);

}  // namespace flitwise
