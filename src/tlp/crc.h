// SPDX-License-Identifier: Apache-2.0
/// Checksums of TLPs and DLLPs.
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

/// Bits of the first two DWs of a header that may change on the way, so that they count as 1.
using EcrcVariantBits = std::array<std::uint8_t, 8>;
/// Type[0] and EP. [LNK-5.20]
inline constexpr EcrcVariantBits kNonFlitVariantBits = {0x01, 0, 0x40, 0, 0, 0, 0, 0};

/// ECRC over a TLP without its ECRC DW; its least significant byte goes first. local_prefix_bytes
/// at the front are left out. [LNK-5.20] [LNK-5.21]
std::uint32_t ecrc(const std::uint8_t* tlp, std::size_t bytes, std::size_t prefix_bytes,
                   std::size_t local_prefix_bytes,
                   const EcrcVariantBits& variant = kNonFlitVariantBits);

/// Writes it, or any such number, to four bytes.
void put_ecrc(std::uint32_t crc, std::uint8_t* bytes);

inline constexpr bool kEcrcCoversLocalPrefixes = false;  // unverified [LNK-5.21]

}  // namespace flitwise
