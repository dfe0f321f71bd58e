// SPDX-License-Identifier: Apache-2.0
/// DLLPs as bytes: four of content and the CRC. [LNK-6.1]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/field_access.h"
#include "flitwise/dllp.h"

namespace flitwise {

inline constexpr std::size_t kDllpBytes = 6;
/// Of the type byte of flow control: shared credits. In flits alone, elsewhere no DLLP has it.
/// unverified [LNK-11.24]
inline constexpr unsigned kSharedCreditsBit = 3;

enum class DllpError : std::uint8_t { kWrongSize, kBadCrc, kUnknownType };
const char* name_of(DllpError error);  ///< "wrong_size", "bad_crc", "unknown_type"
const char* name_of(DllpType type);    ///< "Ack", "InitFC1", "UpdateFC", ...

/// A field of the content: `width` bits from bit `shift` of the DW on.
struct DllpField {
  const char* key;               ///< its name in JSON
  bool (*is_of)(DllpType type);  ///< which types have it
  FieldAccess<Dllp> value;
  std::uint8_t width, shift;
  std::uint32_t mask() const { return (1U << width) - 1U; }
};
/// In the order in which JSON has them. Neither the type nor Dllp::raw, the bits that no field has.
/// [LNK-6.2] [LNK-6.4] [LNK-6.5]
const std::array<DllpField, 7>& dllp_fields();

/// Content and CRC. REQUIRES: a DLLP, fields within their ranges. [LNK-6.2] [LNK-6.4] [LNK-6.5]
std::array<std::uint8_t, kDllpBytes> encode(const Dllp& dllp);

struct DllpDecodeResult {
  Dllp dllp;
  std::uint16_t crc = 0;  ///< as received
  std::optional<DllpError> error;
  std::size_t error_offset = 0;
};

/// Any bytes in; a wrong CRC is an error like others, the caller drops such a DLLP. [LNK-6.7]
DllpDecodeResult decode_dllp(const std::uint8_t* bytes, std::size_t count);

}  // namespace flitwise
