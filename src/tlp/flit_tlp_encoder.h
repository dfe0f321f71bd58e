// SPDX-License-Identifier: Apache-2.0
/// Fields to the bytes of flit mode. [LNK-11.13] to [LNK-11.19]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/tlp.h"

namespace flitwise {

/// A field that has no place in flit mode, by its key in JSON.
struct FlitModeGap {
  const char* field;
  const char* why;
};
/// The first field that flit mode could not carry; nothing is ever dropped silently.
std::optional<FlitModeGap> find_flit_mode_gap(const Tlp& tlp);

/// Appends local prefixes, header, OHC, payload and trailer to out: flit_mode_tlp_bytes(tlp) bytes,
/// and four more if OHC-A is there that nothing needs. A payload shorter than length_dw DWs is
/// filled up with zeros. REQUIRES: no gap; payload_bytes <= data_bytes(tlp); fields within their
/// ranges.
void encode_flit_mode(const Tlp& tlp, bool has_spare_ohc_a, const std::uint8_t* payload,
                      std::size_t payload_bytes, std::vector<std::uint8_t>& out);

/// Writes the ECRC of a whole encoded TLP of `count` bytes into its last DW; nothing if it has
/// none. [LNK-11.19]
void write_flit_mode_ecrc(const Tlp& tlp, std::uint8_t* bytes, std::size_t count);

/// The ECRC of a TLP whose header stands behind header_at bytes of local prefixes; count: without
/// the trailer. [LNK-11.19]
std::uint32_t flit_mode_ecrc(const std::uint8_t* tlp, std::size_t count, std::size_t header_at);

}  // namespace flitwise
