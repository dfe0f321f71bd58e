// SPDX-License-Identifier: Apache-2.0
/// What the DWs of OHC-A and OHC-B hold. OHC-C (IDE) is not modelled, OHC-E holds prefixes as they
/// are. [LNK-11.16] [LNK-11.17] [LNK-11.18]
#pragma once

#include <cstdint>

#include "tlp/ohc.h"

namespace flitwise {

/// Kinds of OHC-A; which one a TLP has follows from its type and routing. [LNK-11.16] [LNK-11.17]
enum class OhcA : std::uint8_t { kA1, kA2, kA3, kA4, kA5 };
OhcA ohc_a_kind(const Tlp& tlp);

/// Of the two kinds that have a PASID, which differ in its place alone.
struct OhcPasidPlaces {
  unsigned valid, privileged, execute, shift;
};
inline constexpr OhcPasidPlaces kPasidInOhcA1 = {30, 29, 28, 8};  ///< [LNK-11.16]
/// All places but the destination segment's: unverified [LNK-11.17]
inline constexpr OhcPasidPlaces kPasidInOhcA4 = {22, 21, 20, 0};
inline constexpr unsigned kOhcA1NoWrite = 31;           ///< [LNK-11.16]
inline constexpr unsigned kOhcA5LowerAddressShift = 3;  ///< [LNK-11.17]
namespace ohc_b {                                       ///< unverified [LNK-11.18]
inline constexpr unsigned kSteeringTagShift = 16, kHintShift = 0;
}

/// The DW of OHC-A, of whichever kind. Fields that no Tlp has (segments, their valid bits) are 0.
std::uint32_t encode_ohc_a(const Tlp& tlp);
/// The DW of OHC-B.
std::uint32_t encode_ohc_b(const Tlp& tlp);

/// Set what the DW says. REQUIRES: the header has been read, and OHC-A before OHC-B; bits that no
/// field owns are ignored.
void decode_ohc_a(std::uint32_t dw, Tlp& tlp);
void decode_ohc_b(std::uint32_t dw, Tlp& tlp);

/// All bytes enabled, where a TLP has byte enables at all: what no OHC-A1 means. [LNK-11.10]
void set_full_byte_enables(Tlp& tlp);

/// The tag as DW1 has it: that of an MWr with hints has its low byte in OHC-B, where the steering
/// tag stands. unverified [LNK-11.18]
std::uint16_t tag_in_header(const Tlp& tlp);

}  // namespace flitwise
