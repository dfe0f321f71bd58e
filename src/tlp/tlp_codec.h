// SPDX-License-Identifier: Apache-2.0
/// TLPs between fields and bytes: as the data link layer takes them. Any bytes give a TLP or a
/// typed violation with its place; or a packet, as scripts and hostile devices send them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/packet.h"
#include "flitwise/tlp.h"
#include "tlp/tlp_check.h"

namespace flitwise {

/// Appends prefixes, header, payload and ECRC to out: tlp_bytes(tlp) bytes. A payload shorter than
/// length_dw DWs is filled up with zeros. REQUIRES: payload_bytes <= data_bytes(tlp); fields within
/// their ranges. [LNK-1.1]
void encode(const Tlp& tlp, const std::uint8_t* payload, std::size_t payload_bytes,
            std::vector<std::uint8_t>& out);

/// Writes the ECRC of a whole encoded TLP into its last DW; nothing without TD. REQUIRES: bytes
/// holds tlp_bytes(tlp). [LNK-5.20]
void write_ecrc(const Tlp& tlp, std::uint8_t* bytes);

struct DecodeResult {
  Tlp tlp;                         ///< as far as it could be read
  std::size_t payload_offset = 0;  ///< bytes from the start
  std::size_t payload_bytes = 0;   ///< length_dw * 4, or 0
  std::optional<TlpViolation> error;
  std::size_t error_offset = 0;  ///< byte that broke the rule; the length where bytes are missing
};

/// Decodes one TLP that fills bytes exactly: prefixes, header, payload, ECRC. Reserved bits are
/// ignored. Also applies check_format. [LNK-1.1] [LNK-2.1] [LNK-3.1]
DecodeResult decode_tlp(const std::uint8_t* bytes, std::size_t count);

/// Most bytes of one TLP on the wire: what the Length field of an STP token can tell. [LNK-5.8]
inline constexpr std::size_t kMostTlpBytes = 2040U * 4U;

/// Fills a clean packet from the bytes of one TLP. Bytes that do not decode make a malformed packet
/// that travels all the same, padded to whole DWs. model: flow control charges a malformed packet
/// by the class of its Fmt and Type (posted where these name no kind) and by the DWs that are
/// really there. Its payload holds the DWs of its header as they came, at most four, and nothing
/// else. REQUIRES: count <= kMostTlpBytes.
void write_raw(Packet& packet, const std::uint8_t* bytes, std::size_t count);

/// The header as the receiver of the packet saw it, for its log. Prefixes are left out, and DWs
/// that are not there are 0. [LNK-12.14]
std::array<std::uint32_t, 4> received_header(const Packet& packet);

}  // namespace flitwise
