// SPDX-License-Identifier: Apache-2.0
/// Fields to bytes: the TLP as the data link layer takes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flitwise/tlp.h"

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

}  // namespace flitwise
