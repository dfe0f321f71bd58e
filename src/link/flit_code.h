// SPDX-License-Identifier: Apache-2.0
/// CRC and FEC of a flit's bytes. Which polynomials the standard has is not in our sources: both
/// codes stand in for its own. They have its sizes and correct and find what LNK-11.8 says, but
/// other check bytes. unverified [LNK-11.21]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flitwise/flit.h"

namespace flitwise {

using FlitBytes = std::array<std::uint8_t, flit::kBytes>;

/// Where CRC and FEC stand; the CRC is over all that is before it. [LNK-11.1]
inline constexpr std::size_t kFlitCrcAt = flit::kTlpBytes + flit::kDlpBytes;
inline constexpr std::size_t kFlitFecAt = kFlitCrcAt + flit::kCrcBytes;

inline constexpr std::uint64_t kFlitCrcPolynomial = 0x42f0e1eba9ea3693;  ///< unverified
inline constexpr unsigned kFecFieldPolynomial = 0x11d;                   ///< of GF(256). unverified

/// Writes CRC and FEC behind TLPs and DLP.
void protect_flit(FlitBytes& flit);

struct FlitRepair {
  std::vector<std::size_t> mended;  ///< bytes that FEC has set right, in order; at most one a group
  bool is_good = false;             ///< the CRC fits
};
/// Corrects a flit as far as FEC can, then asks the CRC.
FlitRepair mend_flit(FlitBytes& flit);

}  // namespace flitwise
