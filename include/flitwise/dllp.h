// SPDX-License-Identifier: Apache-2.0
/// A data link layer packet as fields: four bytes that travel with a 16-bit CRC. [LNK-6.1]
#pragma once

#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

/// [LNK-6.2] [LNK-6.3]
enum class DllpType : std::uint8_t {
  kAck,
  kNak,
  kDataLinkFeature,
  kInitFc1,
  kInitFc2,
  kUpdateFc,
  kPmEnterL1,
  kPmEnterL23,
  kPmActiveStateRequestL1,
  kPmRequestAck,
  kVendor,
  kNop,
  kOptimizedUpdateFc,  ///< no DLLP: stands in flits in place of one [LNK-11.27]
};

inline constexpr int kDllpTypes = 12;  ///< with an encoding of their own [LNK-6.2]
inline constexpr int kDllpTypesInFlits = kDllpTypes + 1;  ///< kOptimizedUpdateFc too

/// Those that speak of one class. [LNK-6.3]
constexpr bool is_flow_control(DllpType type) {
  return type == DllpType::kInitFc1 || type == DllpType::kInitFc2 || type == DllpType::kUpdateFc;
}

constexpr bool is_ack_or_nak(DllpType type) {
  return type == DllpType::kAck || type == DllpType::kNak;
}

struct Dllp {
  DllpType type = DllpType::kNop;
  std::uint16_t sequence = 0;           ///< Ack, Nak: AckNak_Seq_Num, 0..4095
  FcClass fc_class = FcClass::kPosted;  ///< flow-control types
  bool is_shared = false;               ///< flow-control types in flits: shared credits [LNK-11.24]
  std::uint8_t vc = 0;                  ///< flow-control types, 0..7
  std::uint8_t hdr_scale = 0;           ///< code 0..3: not used, x1, x4, x16
  std::uint8_t data_scale = 0;
  std::uint8_t hdr_fc = 0;    ///< HdrFC as it stands in the DLLP, 8 bits (already shifted)
  std::uint16_t data_fc = 0;  ///< DataFC as it stands in the DLLP, 12 bits
  /// Other types: bits [23:0]; Ack, Nak: reserved bits [23:12]; Optimized_Update_FC: all of it.
  std::uint32_t raw = 0;
};

}  // namespace flitwise
