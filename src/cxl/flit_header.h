// SPDX-License-Identifier: Apache-2.0
/// The flit header and the control flits of the 68-byte link layer, and the credits that flits of
/// both sizes return. [CXL-2.2] [CXL-4.5]
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "cxl/flit_layout.h"

namespace flitwise {

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
  const auto* const found = std::find_if(
      std::begin(kCxlControlFlits), std::end(kCxlControlFlits),
      [&](const CxlControlInfo& info) { return info.type == type && info.subtype == subtype; });
  return found == std::end(kCxlControlFlits) ? nullptr : found;
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
