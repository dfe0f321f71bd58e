// SPDX-License-Identifier: Apache-2.0
/// The three checksums of the non-flit link.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace flitwise {

/// LCRC over sequence number and TLP, as a number; its least significant byte goes first.
/// sequence: 0..4095. [LNK-5.18]
std::uint32_t lcrc(std::uint16_t sequence, const std::uint8_t* tlp, std::size_t bytes);

/// CRC of the four bytes of a DLLP; its least significant byte goes first. [LNK-5.19]
std::uint16_t dllp_crc16(const std::array<std::uint8_t, 4>& dllp);

/// ECRC over a TLP without its ECRC DW; its least significant byte goes first. local_prefix_bytes
/// at the front are left out. [LNK-5.20] [LNK-5.21]
std::uint32_t ecrc(const std::uint8_t* tlp, std::size_t bytes, std::size_t prefix_bytes,
                   std::size_t local_prefix_bytes);

inline constexpr bool kEcrcCoversLocalPrefixes = false;  // unverified [LNK-5.21]

}  // namespace flitwise
