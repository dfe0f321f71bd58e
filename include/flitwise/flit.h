// SPDX-License-Identifier: Apache-2.0
/// One 256-byte flit of PCIe flit mode: which TLPs begin and end in it. What its data link layer
/// payload says stands beside it (link/wire_unit.h), since a replay repeats the one and not the
/// other. [LNK-11.1] [LNK-11.2]
#pragma once

#include <cstdint>
#include <vector>

#include "flitwise/packet.h"

namespace flitwise {

/// Parts of a flit in bytes: they add up to 256. [LNK-11.1]
namespace flit {
inline constexpr std::uint32_t kBytes = 256, kTlpBytes = 236, kDlpBytes = 6, kCrcBytes = 8,
                               kFecBytes = 6;
inline constexpr std::uint32_t kTlpDws = kTlpBytes / 4;
static_assert(kTlpBytes + kDlpBytes + kCrcBytes + kFecBytes == kBytes);
}  // namespace flit

struct Flit {
  std::vector<PacketRef> starts;  ///< TLPs whose first DW is here, in order
  std::vector<PacketRef> ends;    ///< TLPs whose last DW is here, in order
  /// DWs of TLPs are here; else it is a NOP flit, which is neither numbered nor replayed.
  /// [LNK-11.6]
  bool has_payload = false;

  void clear() {
    starts.clear();
    ends.clear();
    has_payload = false;
  }
};

}  // namespace flitwise
