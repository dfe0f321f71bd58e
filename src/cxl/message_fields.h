// SPDX-License-Identifier: Apache-2.0
/// The fields of each message, in the order in which they stand: that of the published tables,
/// lowest bit first. unverified [CXL-1.3] [CXL-1.4] [CXL-1.7]
#pragma once

#include <cstddef>
#include <cstdint>

#include "cxl/widths.h"

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
struct CxlFields {
  const CxlFieldSpec* first = nullptr;
  std::size_t count = 0;
  const CxlFieldSpec* begin() const { return first; }
  const CxlFieldSpec* end() const { return first + count; }
};

/// Empty where flits of this form have no such message.
CxlFields fields_of(CxlFlitForm form, CxlChannel channel);

/// Lowest address bit that a field of so many bits has.
constexpr std::uint32_t lowest_address_bit(std::uint32_t field_bits) {
  constexpr std::uint32_t kRequestWithHalfLines = 47;
  return field_bits == kRequestWithHalfLines ? 5 : 6;
}

/// The name of a field in JSON; null where it is none of its own.
const char* name_of(CxlField field, CxlChannel channel);
/// The field of a message as a number; 0 for those that are no part of it.
std::uint64_t value_of(const CxlMessage& message, CxlFieldSpec spec);
/// Sets the field, which has no more bits than the specification says.
void set_value(CxlMessage& message, CxlFieldSpec spec, std::uint64_t value);

}  // namespace flitwise
