// SPDX-License-Identifier: Apache-2.0
/// What a switch sees of a packet, and what it changes: the headers of IPv4 and UDP, and nothing
/// behind them. [KY-7] [NW-6]
#pragma once

#include <cstdint>

#include "common/byte_vector.h"
#include "network/flow_hash.h"

namespace flitwise {

/// ECN: the two low bits of the ToS byte.
enum class Ecn : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };
constexpr Ecn ecn_of(std::uint8_t tos) {
  return static_cast<Ecn>(tos & 3U);
}
inline constexpr std::uint8_t kCeBits = 3;

/// By which a port is chosen. A packet that is not there as bytes has the same.
struct SwitchView {
  std::uint32_t hash = 0;   ///< hash_of() its tuple
  std::uint8_t tos = 0;     ///< with ECN
  bool has_ar_bit = false;  ///< see read_switch_view(); a baseline alone has it
};

struct SwitchViewRules {
  FlowHash hash = FlowHash::kCrc32c;
  bool is_symmetric = false;
  /// `bth_ar`, the one exception to what a switch looks at: of packets to port 4791 also this bit
  /// of the BTH, by its byte and its mask; 0: none is looked at. [CC-9]
  std::uint8_t bth_byte = 4, bth_mask = 0;
};

/// What becomes of a frame at a switch.
enum class Forwarding : std::uint8_t {
  kGoesOn,
  kBadHeader,  ///< no IPv4, or another checksum than that of its header
  kTtl         ///< it has used up its hops
};

struct SwitchRead {
  Forwarding outcome = Forwarding::kBadHeader;
  FiveTuple tuple{};
  SwitchView view{};
};
/// Any bytes in, from the Ethernet header on; never reads beyond them. A frame without UDP, or that
/// is a later fragment, has ports of 0. Where it goes on, one is taken from its TTL and its
/// checksum mended; others stay as they are.
SwitchRead pass_switch(ByteVector& frame, const SwitchViewRules& rules);
/// Who sends a frame of IPv4 without ECT sets ECT(0), and mends its checksum. Others stay as they
/// are.
void set_ect(ByteVector& frame);
/// Sets CE in the frame, and mends its checksum. REQUIRES: pass_switch() let it go on.
void mark_ce(ByteVector& frame);

}  // namespace flitwise
