// SPDX-License-Identifier: Apache-2.0
/// A flit without what surrounds it, its body: slots, and in 256-byte flits the flit header in
/// front and the returned credits behind. The frame adds protocol ID, CRC and FEC. And what the
/// headers, control flits and credits say. [CXL-2.1] [CXL-2.2] [CXL-4.1] [CXL-4.4] [CXL-4.5]
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "common/ranges.h"
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

// The header and the control flits of 68-byte flits, and the credits that flits of both sizes
// return.

/// Credits of a 68-byte flit header stand as powers of two: 0, 1, 2, 4, ... 64. [CXL-2.10]
inline constexpr std::uint8_t kMostCxlCreditCode = 7;
constexpr std::uint32_t cxl_credits_of_code(std::uint8_t code) {
  return code == 0 ? 0 : 1U << (code - 1U);
}
/// The largest code that returns no more than count.
constexpr std::uint8_t cxl_credit_code(std::uint32_t count) {
  std::uint8_t code = 0;
  while (code < kMostCxlCreditCode && cxl_credits_of_code(code + 1) <= count) {
    ++code;
  }
  return code;
}

/// Credits of one class that a 68-byte flit returns, of CXL.cache or of CXL.mem.
struct CxlCreditField {
  CxlProtocol protocol = CxlProtocol::kCache;
  std::uint8_t code = 0;  ///< at most kMostCxlCreditCode
};

/// [CXL-2.2]
struct CxlHeader68 {
  bool is_control = false;
  bool is_ack = false;              ///< Ak: acknowledges eight flits [CXL-2.11]
  bool has_byte_enables = false;    ///< BE
  bool is_64_byte_transfer = true;  ///< Sz
  std::array<std::uint8_t, kCxlSlots68> formats{};
  std::array<CxlCreditField, kCxlCredits> credits{};  ///< by CxlCredit
};
std::uint32_t word_of(const CxlHeader68& header);
CxlHeader68 cxl_header68_of(std::uint32_t word);

/// Control flits carry no messages and take no credits. Behind the flit header stand type and
/// subtype, and a payload of 64 bits. [CXL-2.11]
struct CxlControl {
  std::uint8_t type = 0;     ///< 4 bits
  std::uint8_t subtype = 0;  ///< 4 bits
  std::uint64_t payload = 0;
};

struct CxlControlField {
  const char* name;
  std::uint8_t at, bits;
};
struct CxlControlInfo {
  const char* name;  ///< "RETRY.Req"
  std::uint8_t type, subtype;
  CxlRows<CxlControlField> fields;  ///< of the payload
};

/// Bit 3 of the number acknowledged is Ak of the flit header.
inline constexpr CxlControlField kLlcrdAckFields[] = {{"acks_2_0", 0, 3}, {"acks_7_4", 4, 4}};
inline constexpr CxlControlField kRetryReqFields[] = {
    {"seq", 0, 8}, {"num_retry", 16, 5}, {"num_phy_reinit", 21, 5}};
inline constexpr CxlControlField kRetryAckFields[] = {
    {"empty", 0, 1}, {"viral", 1, 1},         {"num_retry", 3, 5}, {"wr_ptr", 8, 8},
    {"seq", 16, 8},  {"num_free_buf", 24, 8}, {"ld_id", 32, 16}};
inline constexpr CxlControlField kInitParamFields[] = {{"payload", 0, 64}};
/// All that are modelled.
inline constexpr CxlControlInfo kCxlControlFlits[] = {{"LLCRD.Ack", 0x0, 0x1, kLlcrdAckFields},
                                                      {"RETRY.Idle", 0x1, 0x0, {}},
                                                      {"RETRY.Req", 0x1, 0x1, kRetryReqFields},
                                                      {"RETRY.Ack", 0x1, 0x2, kRetryAckFields},
                                                      {"RETRY.Frame", 0x1, 0x3, {}},
                                                      {"INIT.Param", 0xC, 0x8, kInitParamFields}};

/// Null: not modelled.
inline const CxlControlInfo* find_cxl_control(std::uint8_t type, std::uint8_t subtype) {
  return find_where(kCxlControlFlits, [&](const CxlControlInfo& info) {
    return info.type == type && info.subtype == subtype;
  });
}

/// Where they stand in slot 0.
inline constexpr std::size_t kControlTypeAt = 32, kControlSubtypeAt = 36, kControlPayloadAt = 64;

/// Three counts of one protocol in two bytes. [CXL-4.5]
struct CxlCreditReturn256 {
  CxlProtocol protocol = CxlProtocol::kCache;
  std::array<std::uint8_t, kCxlCredits>
      counts{};  ///< by CxlCredit, each at most kMostCxlCredits256
};
inline constexpr std::uint8_t kMostCxlCredits256 = 31;
std::uint16_t word_of(const CxlCreditReturn256& credits);
CxlCreditReturn256 cxl_credit_return256_of(std::uint16_t word);

}  // namespace flitwise
