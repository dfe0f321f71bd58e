// SPDX-License-Identifier: Apache-2.0
/// TLPs between fields and bytes: as the data link layer takes them. Any bytes give a TLP or a
/// typed violation with its place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/tlp.h"
#include "tlp/tlp_check.h"

namespace flitwise {

/// Appends prefixes, header, payload and ECRC to out: tlp_bytes(tlp) bytes. A payload shorter than
/// length_dw DWs is filled up with zeros. REQUIRES: payload_bytes <= data_bytes(tlp); fields within
/// their ranges. [LNK-1.1]
void encode(const Tlp& tlp, const std::uint8_t* payload, std::size_t payload_bytes,
            std::vector<std::uint8_t>& out);

/// The header without prefixes, in DWs whose highest byte goes first; the last is 0 where the
/// header has three. What an error log keeps.
std::array<std::uint32_t, 4> encode_header(const Tlp& tlp);

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

}  // namespace flitwise
