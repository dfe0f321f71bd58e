// SPDX-License-Identifier: Apache-2.0
/// Per-buffer control: the first QW of each packet in send memory, which is no part of the packet.
/// [PIO-3.5]
#pragma once

#include <cstdint>

#include "pio/send_window.h"

namespace flitwise {

/// Where the egress puts the header checksum.
enum class PbcHcrc : std::uint8_t { kLocalKdeth, kGlobalKdeth, kNone, kReserved };

struct Pbc {
  static constexpr unsigned kMostLengthDws = 4095;
  static constexpr unsigned kMostBlocks = 256;  ///< that this length can mean
  std::uint16_t length_dws = 0;  ///< PbcLengthDWs: PBC and packet, 0..4095 [PIO-12.1]
  std::uint8_t vl = 0;           ///< 0..15
  bool fecn = false;
  bool test_bad_icrc = false;
  bool insert_bypass_icrc = false;
  bool credit_return = false;  ///< credits are returned when those of this packet are free
  PbcHcrc insert_hcrc = PbcHcrc::kLocalKdeth;
  bool is_bypass = false;  ///< the CRC stands in the packet: the egress appends none
  bool test_ebp = false;
  bool dc_info = false;  ///< SC[4]
  bool interrupts = false;
  std::uint16_t static_rate = 0;

  /// Of a packet with so many bytes behind its PBC, which whole DWs carry.
  static Pbc of_payload(std::uint32_t bytes) {
    Pbc pbc;
    pbc.length_dws = static_cast<std::uint16_t>(2 + (bytes + 3) / 4);
    return pbc;
  }

  /// Blocks of send memory, 0..256. [PIO-3.5]
  unsigned blocks() const {
    constexpr unsigned kBlockDws = kSendBlockBytes / 4;
    return (length_dws + kBlockDws - 1) / kBlockDws;
  }
  /// Bytes in send memory behind the PBC, whose two DWs the length counts.
  unsigned packet_bytes() const { return length_dws > 2 ? 4U * (length_dws - 2U) : 0; }
  /// Bytes that the link carries: the egress appends the ICRC of four bytes unless it is a bypass
  /// packet, which has its CRC in place. [PIO-12.23]
  unsigned wire_bytes() const { return packet_bytes() + (is_bypass ? 0 : 4); }
};

/// That of a packet which fills its blocks, 1..Pbc::kMostBlocks, VL 0..15.
Pbc pbc_of_blocks(unsigned blocks, unsigned vl, bool returns_credits);
/// Reserved bits are ignored, and written as 0.
Pbc decode_pbc(std::uint64_t qw);
std::uint64_t encode(const Pbc& pbc);

}  // namespace flitwise
