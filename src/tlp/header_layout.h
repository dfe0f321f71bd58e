// SPDX-License-Identifier: Apache-2.0
/// Numbers of the header layouts of both modes, which their encoders and decoders share.
/// [LNK-11.13] [LNK-11.14]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "flitwise/tlp.h"
#include "tlp/prefix.h"

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

// ---- flit mode

/// Type[7:0] of what is no TLP of this simulator. [LNK-11.13]
namespace flit_type {
inline constexpr std::uint8_t kNop = 0x00, kUioMRd = 0x22, kUioMWr = 0x61;
}  // namespace flit_type

/// Type[7:0] with a header of 3 and of 4 DWs; kNone where there is no such header. [LNK-11.13]
struct FlitTypeCodes {
  static constexpr std::uint8_t kNone = 0xff;
  std::uint8_t narrow = kNone;
  std::uint8_t wide = kNone;
};

constexpr FlitTypeCodes flit_type_codes(TlpType type) {
  constexpr std::uint8_t kNone = FlitTypeCodes::kNone;
  constexpr std::array<FlitTypeCodes, kTlpTypes> kCodes = {{
      {0x03, 0x20},   // MRd
      {0x01, 0x21},   // MRdLk: unverified
      {0x40, 0x60},   // MWr
      {0x02, kNone},  // IORd
      {0x42, kNone},  // IOWr
      {0x04, kNone},  // CfgRd0
      {0x44, kNone},  // CfgWr0
      {0x05, kNone},  // CfgRd1
      {0x45, kNone},  // CfgWr1
      {0x0a, kNone},  // Cpl
      {0x4a, kNone},  // CplD
      {0x0b, kNone},  // CplLk: unverified
      {0x4b, kNone},  // CplDLk: unverified
      {0x4c, 0x6c},   // FetchAdd, 64-bit address: unverified
      {0x4d, 0x6d},   // Swap: unverified
      {0x4e, 0x6e},   // CAS, 64-bit address: unverified
      {0x5b, 0x7b},   // DMWr, 64-bit address: unverified
      {kNone, 0x30},  // Msg, its routing is added
      {kNone, 0x70},  // MsgD, likewise
  }};
  return kCodes[static_cast<std::size_t>(type)];
}

/// TLP prefixes that stand before the header. [LNK-11.13]
constexpr bool is_flit_mode_local_prefix(std::uint8_t first_byte) {
  return first_byte == prefix::kFlitModeLocal || first_byte == prefix::kVendorLocal0 ||  // these
         first_byte == prefix::kVendorLocal1;  // two: unverified
}
/// Prefixes of non-flit mode that OHC-E holds as they are. unverified [LNK-11.18]
constexpr bool is_in_ohc_e(std::uint32_t prefix_dw) {
  return prefix_type(prefix_dw) == prefix::kVendorEndEnd0 ||
         prefix_type(prefix_dw) == prefix::kVendorEndEnd1;
}

inline constexpr unsigned kFlitModeTagBits = 14;  ///< [LNK-11.14]
/// The tag of a message stands above its code, so that it is short. unverified [LNK-11.14]
inline constexpr unsigned kMessageTagShift = 8, kMessageTagBits = 6;
/// In DW1 of requests and messages, where bit 14 is reserved; the bit of non-flit mode has another
/// meaning here. model: our choice. [LNK-1.7] [LNK-11.14]
inline constexpr unsigned kFlitModeHandleBit = 14;

/// Codes of TS: what stands behind the payload. [LNK-11.13]
namespace trailer {
inline constexpr unsigned kShift = 13, kNone = 0, kEcrc = 1;
}  // namespace trailer

/// Bits of the OHC field, counted in the first DW. [LNK-11.13]
inline constexpr unsigned kOhcABit = 16, kOhcBBit = 17, kOhcCBit = 18, kOhcEShift = 19;

/// DWs of OHC-E by its code in the OHC field. [LNK-11.13]
inline constexpr std::array<unsigned, 4> kOhcEDws = {0, 1, 2, 4};

}  // namespace flitwise
