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

/// Bytes of a body.
constexpr std::size_t body_bytes(CxlFlitForm form) {
  constexpr std::size_t kCrc256Bytes = 8, kCrcOfHalfBytes = 6;
  switch (form) {
    case CxlFlitForm::k68:
      return kCxlSlots68 * kCxlSlotBytes;
    case CxlFlitForm::k256:
      return kCxlBytes256 - kCrc256Bytes - kCxlFecBytes;
    case CxlFlitForm::k256LatencyOptimised:
      break;
  }
  return kCxlBytes256 - 2 * kCrcOfHalfBytes - kCxlFecBytes;
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
  constexpr std::size_t kProtocolIdBytes = 2, kHalfBody = 122, kCrcOfHalfBytes = 6;
  switch (form) {
    case CxlFlitForm::k68:
      return body_byte + kProtocolIdBytes;
    case CxlFlitForm::k256:
      return body_byte;
    case CxlFlitForm::k256LatencyOptimised:
      break;
  }
  if (body_byte < kHalfBody) {
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

/// Checksums by place and value.
struct CxlCheck {
  std::size_t first, end;  ///< bytes of the flit that it covers, the last one not included
  std::size_t at;          ///< its own first byte
  std::size_t bytes;
};
/// One, or two of the latency-optimised form.
struct CxlChecks {
  std::array<CxlCheck, 2> check{};
  std::size_t count = 0;
  const CxlCheck* begin() const { return check.data(); }
  const CxlCheck* end() const { return check.data() + count; }
};
CxlChecks checks_of(CxlFlitForm form);
std::uint64_t crc_of(CxlFlitForm form, const CxlCheck& check, const std::uint8_t* flit);
/// All checksums of a flit of the right size, one behind the other.
std::vector<std::uint8_t> crc_bytes_of(CxlFlitForm form, const std::vector<std::uint8_t>& flit);
/// First byte of a checksum that is wrong. REQUIRES: a flit of the right size.
std::optional<std::size_t> find_bad_crc(CxlFlitForm form, const std::uint8_t* flit);

}  // namespace flitwise
