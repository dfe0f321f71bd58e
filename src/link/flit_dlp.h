// SPDX-License-Identifier: Apache-2.0
/// Data link layer payload (DLP) of a flit as bytes. [LNK-11.20]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

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

}  // namespace flitwise
