// SPDX-License-Identifier: Apache-2.0
/// Orthogonal header content (OHC) of flit mode: DWs behind the base header that a TLP has only
/// where it needs them, and what those of OHC-A and OHC-B hold. OHC-C (IDE) is not modelled, OHC-E
/// holds prefixes as they are. [LNK-11.9] [LNK-11.10] [LNK-11.16] [LNK-11.17] [LNK-11.18]
#pragma once

#include <cstdint>

#include "flitwise/tlp.h"
#include "tlp/header_layout.h"
#include "tlp/prefix.h"

namespace flitwise {

/// The byte enables that an absent OHC-A1 stands for: all bytes of all DWs. [LNK-11.10]
constexpr bool has_full_byte_enables(const Tlp& tlp) {
  return tlp.first_be == 0xf && tlp.last_be == (tlp.length_dw > 1 ? 0xf : 0);
}

/// All bytes enabled, where a TLP has byte enables at all: what no OHC-A1 means. [LNK-11.10]
constexpr void set_full_byte_enables(Tlp& tlp) {
  const bool has_any = is_memory_request(tlp.type);
  tlp.first_be = has_any ? 0xf : 0;
  tlp.last_be = has_any && tlp.length_dw > 1 ? 0xf : 0;
}

/// Byte enables that say nothing of bytes: those of atomics, and those of requests without data
/// that hold a steering tag, which OHC-B has. [LNK-2.15]
constexpr bool has_no_byte_enables(const Tlp& tlp) {
  return is_atomic(tlp.type) || (tlp.has_processing_hint && !has_data(tlp.type));
}

/// Does a TLP need OHC-A for anything but the name of its domain? Byte enables, No Write and, of a
/// completion, its status, the low address bits and a handle that it echoes. I/O and configuration
/// requests always have theirs. [LNK-11.10]
constexpr bool needs_ohc_a_anyhow(const Tlp& tlp) {
  if (is_completion(tlp.type)) {
    return tlp.status != CplStatus::kSC || (tlp.lower_address & 3U) != 0 || tlp.id_is_handle;  // A5
  }
  if (is_io(tlp.type) || is_configuration(tlp.type)) {
    return true;  // A2, A3
  }
  return is_memory_request(tlp.type) &&
         ((!has_no_byte_enables(tlp) && !has_full_byte_enables(tlp)) ||
          (is_translation_request(tlp) && is_no_write(tlp)));
}

/// With the domain: a PASID, or a handle in its place. [LNK-11.10] [DHI D23]
constexpr bool has_ohc_a(const Tlp& tlp) {
  return tlp.has_pasid || needs_ohc_a_anyhow(tlp);
}

/// Processing hints. [LNK-11.9]
constexpr bool has_ohc_b(const Tlp& tlp) {
  return tlp.has_processing_hint;
}

/// DWs of OHC-E, one for each further End-End prefix: it comes with 1, 2 or 4. [LNK-11.13]
constexpr unsigned ohc_e_dws(const Tlp& tlp) {
  const unsigned prefixes = tlp.other_prefix_count - local_prefixes(tlp);
  return prefixes == 3 ? 4U : prefixes;
}

/// Bytes of OHC-A and OHC-B. [LNK-11.9]
constexpr unsigned ohc_bytes(const Tlp& tlp) {
  return (has_ohc_a(tlp) ? 4U : 0U) + (has_ohc_b(tlp) ? 4U : 0U);
}

/// Bytes of prefixes other than the PASID's: local ones, and the End-End ones in OHC-E.
/// [LNK-11.18]
constexpr unsigned flit_mode_prefix_bytes(const Tlp& tlp) {
  return tlp.other_prefix_count == 0 ? 0U : 4U * (local_prefixes(tlp) + ohc_e_dws(tlp));
}

/// Bytes of a TLP in flit mode: base header, OHC, payload, trailer. Always whole DWs.
constexpr unsigned flit_mode_tlp_bytes(const Tlp& tlp) {
  return flit_mode_prefix_bytes(tlp) + header_bytes(tlp) + ohc_bytes(tlp) + data_bytes(tlp) +
         (tlp.has_ecrc ? 4U : 0U);
}

/// Of the two kinds of OHC-A that have a PASID, which differ in its place alone.
struct OhcPasidPlaces {
  unsigned valid, privileged, execute, shift;
};
inline constexpr OhcPasidPlaces kPasidInOhcA1 = {30, 29, 28, 8};  ///< [LNK-11.16]
/// All places but the destination segment's: unverified [LNK-11.17]
inline constexpr OhcPasidPlaces kPasidInOhcA4 = {22, 21, 20, 0};
/// That of a TLP, which follows from its type and routing; null where its kind has no PASID.
constexpr const OhcPasidPlaces* pasid_in_ohc_a(const Tlp& tlp) {
  if (is_completion(tlp.type) || is_io(tlp.type) || is_configuration(tlp.type)) {
    return nullptr;  // A5, A2, A3
  }
  return is_message(tlp.type) && tlp.routing == MsgRouting::kById ? &kPasidInOhcA4 : &kPasidInOhcA1;
}

inline constexpr unsigned kOhcA1NoWrite = 31;           ///< [LNK-11.16]
inline constexpr unsigned kOhcA5LowerAddressShift = 3;  ///< [LNK-11.17]
/// The base header of a completion has no bit to spare. model: our choice. [LNK-1.7] [DHI D16]
inline constexpr unsigned kOhcA5HandleBit = 5;
namespace ohc_b {  ///< unverified [LNK-11.18]
inline constexpr unsigned kSteeringTagShift = 16, kHintShift = 0;
}

/// The DW of OHC-A, of whichever kind. Fields that no Tlp has (segments, their valid bits) are 0.
std::uint32_t encode_ohc_a(const Tlp& tlp);
/// Sets what the DW says. REQUIRES: the header has been read; bits that no field owns are ignored.
void decode_ohc_a(std::uint32_t dw, Tlp& tlp);

}  // namespace flitwise
