// SPDX-License-Identifier: Apache-2.0
/// Optimized_Update_FC: what UpdateFC says of the shared credits of one class, for all classes at
/// once, in one DW. It stands in a flit in place of a DLLP. [LNK-11.27]
#pragma once

#include <array>
#include <cstdint>

#include "flitwise/tlp.h"

namespace flitwise {

/// Low bits of HdrFC and DataFC that stand there for each class, the header's above, P in the
/// highest bits; the two lowest bits are 0. model: the text knows no layout. unverified [LNK-11.27]
inline constexpr unsigned kOptimizedHeaderBits = 3, kOptimizedDataBits = 7;

struct OptimizedUpdateFc {
  struct Fields {
    std::uint32_t header = 0;
    std::uint32_t data = 0;
  };
  std::array<Fields, kFcClasses> classes{};
};

constexpr std::uint32_t low_bits(std::uint32_t value, unsigned bits) {
  return value & ((1U << bits) - 1U);
}

inline std::uint32_t encode(const OptimizedUpdateFc& update) {
  std::uint32_t dw = 0;
  for (const OptimizedUpdateFc::Fields& one : update.classes) {
    dw = dw << kOptimizedHeaderBits | low_bits(one.header, kOptimizedHeaderBits);
    dw = dw << kOptimizedDataBits | low_bits(one.data, kOptimizedDataBits);
  }
  return dw << (32 - kFcClasses * (kOptimizedHeaderBits + kOptimizedDataBits));
}

inline OptimizedUpdateFc decode_optimized_update_fc(std::uint32_t dw) {
  OptimizedUpdateFc update;
  unsigned at = 32;
  for (OptimizedUpdateFc::Fields& one : update.classes) {
    at -= kOptimizedHeaderBits;
    one.header = low_bits(dw >> at, kOptimizedHeaderBits);
    at -= kOptimizedDataBits;
    one.data = low_bits(dw >> at, kOptimizedDataBits);
  }
  return update;
}

}  // namespace flitwise
