// SPDX-License-Identifier: Apache-2.0
/// What stands in a 256-byte flit behind its TLPs, as bytes: the data link layer payload (DLP), CRC
/// and FEC. Which polynomials the standard has is not in our sources: both codes stand in for its
/// own. They have its sizes and correct and find what LNK-11.8 says, but other check bytes.
/// unverified [LNK-11.20] [LNK-11.21]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/dllp.h"
#include "flitwise/flit.h"

namespace flitwise {

/// What the sequence number of a DLP is. The codes are those of the field, in this order.
/// unverified [LNK-11.20]
enum class ReplayCommand : std::uint8_t { kExplicit, kAck, kNak, kSelectiveNak };

inline constexpr std::uint8_t kUsageOfNopFlit = 0;      ///< unverified [LNK-11.20]
inline constexpr std::uint8_t kUsageOfPayloadFlit = 1;  ///< unverified [LNK-11.20]

struct FlitDlp {
  std::uint8_t usage = kUsageOfNopFlit;  ///< 0..3
  bool prior_was_payload = false;
  ReplayCommand command = ReplayCommand::kExplicit;
  std::uint16_t sequence = 0;  ///< 0..1023: of the command; 0 in IDLE flits alone [LNK-11.6]
  Dllp dllp;                   ///< a NOP where there is none
  /// In place of a DLLP: Optimized_Update_FC or a Flit_Marker, as it is.
  std::optional<std::uint32_t> other;
};

using DlpBytes = std::array<std::uint8_t, flit::kDlpBytes>;
DlpBytes encode(const FlitDlp& dlp);

/// Nothing if no DLLP has the type byte that stands at kDlpTypeAt.
std::optional<FlitDlp> decode_dlp(const DlpBytes& bytes);
inline constexpr std::size_t kDlpTypeAt = 2;

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
