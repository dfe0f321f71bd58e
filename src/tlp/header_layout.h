// SPDX-License-Identifier: Apache-2.0
/// Numbers of the header layout that encoder and decoder share.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "flitwise/tlp.h"

namespace flitwise {

/// Type[4:0] of a kind of TLP; messages add their routing. [LNK-1.2]
constexpr std::uint8_t type_code(TlpType type) {
  constexpr std::array<std::uint8_t, kTlpTypes> kCodes = {0x00, 0x01, 0x00, 0x02, 0x02, 0x04, 0x04,
                                                          0x05, 0x05, 0x0a, 0x0a, 0x0b, 0x0b, 0x0c,
                                                          0x0d, 0x0e, 0x1b, 0x10, 0x10};
  return kCodes[static_cast<std::size_t>(type)];
}

/// Fmt of a TLP: bit 0 for 4DW, bit 1 for data. [LNK-1.8]
constexpr std::uint8_t fmt_of(const Tlp& tlp) {
  return static_cast<std::uint8_t>((header_bytes(tlp) == 16 ? 1U : 0U) |
                                   (has_data(tlp.type) ? 2U : 0U));
}

/// The kind with this Fmt (0..3) and Type, if there is one. [LNK-1.2]
std::optional<TlpType> find_type(unsigned fmt, unsigned type);

/// No Write of a translation request, as a bit of the last address byte, where PH stands in other
/// requests. [LNK-4.2] unverified
inline constexpr unsigned kNoWriteBit = 0;

/// REQUIRES: at is translation request.
constexpr bool is_no_write(const Tlp& tlp) {
  return ((tlp.processing_hint >> kNoWriteBit) & 1U) != 0;
}

inline constexpr unsigned kMaxLengthDw = 1024;   ///< code 0 [LNK-1.4]
inline constexpr unsigned kMaxByteCount = 4096;  ///< code 0 [LNK-2.14]

}  // namespace flitwise
