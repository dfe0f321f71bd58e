// SPDX-License-Identifier: Apache-2.0
/// The times that an RNR NAK names by a code of five bits. [VB-9]
#pragma once

#include <cstdint>

#include "flitwise/time.h"

namespace flitwise {

/// 10 us to 655.36 ms. Of a code its low five bits count.
constexpr Time rnr_time_of(std::uint8_t code) {
  constexpr std::uint32_t kTensOfMicroseconds[32] = {
      65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
      48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return Time::from_us(10) * std::int64_t{kTensOfMicroseconds[code & 0x1f]};
}

}  // namespace flitwise
