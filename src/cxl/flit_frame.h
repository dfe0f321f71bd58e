// SPDX-License-Identifier: Apache-2.0
/// A flit without what surrounds it, its body: slots, and in 256-byte flits the flit header in
/// front and the returned credits behind. The frame adds protocol ID, CRC and FEC. [CXL-2.1]
/// [CXL-4.1] [CXL-4.4]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cxl/flit_layout.h"

namespace flitwise {

inline constexpr std::size_t kCxlSlotBytes = 16, kCxlHsSlotBytes = 12;
inline constexpr std::size_t kCxlFecBytes = 6;

/// The protocol ID in front of a 68-byte flit: a code of eight bits, twice. Any two codes differ in
/// four bits. Codes unverified. [CXL-2.14]
enum class CxlProtocolId : std::uint8_t {
  kIo = 0xff,
  kCacheMem = 0x55,
  kNull = 0x99,
  kAlmp = 0xcc
};
inline constexpr std::size_t kCxlProtocolIdBytes = 2;

/// A checksum of `bits` bits, highest power first; starts with all ones, and bytes go in lowest bit
/// first. Their sizes are known, their polynomials are not: all constants here are unverified.
/// [CXL-2.13] [CXL-4.8]
struct CxlCrc {
  std::uint32_t bits;
  std::uint64_t polynomial;  ///< without its highest power
};
/// 68-byte flits: over the 64 bytes of the slots.
inline constexpr CxlCrc kCrc68 = {16, 0xf053};
/// Standard 256-byte flits: over all bytes before it.
inline constexpr CxlCrc kCrc256 = {64, 0x42f0e1eba9ea3693};
/// Each half of a latency-optimised flit: over the bytes of the half before it.
inline constexpr CxlCrc kCrcOfHalf = {48, 0xe1eba9ea3693};

/// Its lowest byte goes first on the wire.
constexpr std::uint64_t crc_of(const CxlCrc& crc, const std::uint8_t* bytes, std::size_t count) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64U - crc.bits);
  std::uint64_t rest = mask;
  for (std::size_t i = 0; i < count * 8; ++i) {
    const std::uint64_t in = bytes[i / 8] >> (i % 8) & 1U;
    const bool is_set = (rest >> (crc.bits - 1U) ^ in) != 0;
    rest = (rest << 1U & mask) ^ (is_set ? crc.polynomial : 0);
  }
  return rest;
}

/// The checksum of a flit, or of each half of a latency-optimised one.
constexpr const CxlCrc& crc_in(CxlFlitForm form) {
  return form == CxlFlitForm::k68 ? kCrc68 : form == CxlFlitForm::k256 ? kCrc256 : kCrcOfHalf;
}
/// Bytes of all checksums of a flit.
constexpr std::size_t crc_bytes(CxlFlitForm form) {
  return crc_in(form).bits / 8 * (form == CxlFlitForm::k256LatencyOptimised ? 2 : 1);
}

/// Bytes of a body.
constexpr std::size_t body_bytes(CxlFlitForm form) {
  return form == CxlFlitForm::k68 ? kCxlSlots68 * kCxlSlotBytes
                                  : kCxlBytes256 - crc_bytes(form) - kCxlFecBytes;
}

/// First byte of a slot in the body. Slot 0 of 256-byte flits stands behind two bytes of header.
constexpr std::size_t slot_at(CxlFlitForm form, std::size_t slot) {
  const bool is_behind_short = form == CxlFlitForm::k256LatencyOptimised && slot > kCxlHsSlot;
  return slot == 0 && form != CxlFlitForm::k68
             ? 2
             : slot * kCxlSlotBytes - (is_behind_short ? kCxlSlotBytes - kCxlHsSlotBytes : 0);
}
/// First byte of the returned credits of a 256-byte flit in the body.
constexpr std::size_t credits_at(CxlFlitForm form) {
  return slot_at(form, kCxlSlots256 - 1) + kCxlSlotBytes;
}
/// First bit of messages in a slot.
constexpr std::size_t first_message_bit(CxlFlitForm form, std::size_t slot) {
  constexpr std::size_t kFlitHeaderBits = 32, kFormatBits = 4;
  return form != CxlFlitForm::k68 ? kFormatBits : slot == 0 ? kFlitHeaderBits : 0;
}

/// Where a byte of the body stands in the flit.
constexpr std::size_t flit_offset(CxlFlitForm form, std::size_t body_byte) {
  constexpr std::size_t kHalfBody = 122, kCrcOfHalfBytes = kCrcOfHalf.bits / 8;
  if (form == CxlFlitForm::k68) {
    return body_byte + kCxlProtocolIdBytes;
  }
  if (form == CxlFlitForm::k256 || body_byte < kHalfBody) {
    return body_byte;
  }
  // Slot 8 gives way to the rest of slot 7: its last two bytes stand behind the credits, so that
  // the slots behind it begin at multiples of 16. [CXL-4.4]
  constexpr std::size_t kShort = slot_at(CxlFlitForm::k256LatencyOptimised, kCxlHsSlot),
                        kBehindShort = kShort + kCxlHsSlotBytes, kDisplaced = kBehindShort - 2,
                        kBehindCredits = body_bytes(CxlFlitForm::k256LatencyOptimised) +
                                         kCrcOfHalfBytes - (kBehindShort - kDisplaced);
  return body_byte < kDisplaced     ? body_byte + kCrcOfHalfBytes
         : body_byte < kBehindShort ? body_byte - kDisplaced + kBehindCredits
                                    : body_byte + kCrcOfHalfBytes - (kBehindShort - kDisplaced);
}

/// The whole flit of CXL.cache and CXL.mem around a body of the right size.
std::vector<std::uint8_t> framed(CxlFlitForm form, const std::vector<std::uint8_t>& body,
                                 const std::array<std::uint8_t, kCxlFecBytes>& fec);
/// REQUIRES: a flit of the right size.
std::vector<std::uint8_t> body_of(CxlFlitForm form, const std::uint8_t* flit);
std::array<std::uint8_t, kCxlFecBytes> fec_of(CxlFlitForm form, const std::uint8_t* flit);

/// All checksums of a flit of the right size, one behind the other.
std::vector<std::uint8_t> crc_bytes_of(CxlFlitForm form, const std::vector<std::uint8_t>& flit);
/// First byte of a checksum that is wrong. REQUIRES: a flit of the right size.
std::optional<std::size_t> find_bad_crc(CxlFlitForm form, const std::uint8_t* flit);

}  // namespace flitwise
