// SPDX-License-Identifier: Apache-2.0
/// Control flits of the 68-byte link layer: they carry no messages and take no credits. Behind the
/// flit header stand type and subtype, and a payload of 64 bits. [CXL-2.11]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "cxl/channels.h"

namespace flitwise {

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

}  // namespace flitwise
