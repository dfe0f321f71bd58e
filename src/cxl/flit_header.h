// SPDX-License-Identifier: Apache-2.0
/// The flit header of 68-byte flits and the credits that flits of both sizes return. [CXL-2.2]
/// [CXL-4.5]
#pragma once

#include <array>
#include <cstdint>

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
