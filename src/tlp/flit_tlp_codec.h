// SPDX-License-Identifier: Apache-2.0
/// TLPs between fields and the bytes of flit mode: any bytes give a TLP or a typed error with its
/// place. [LNK-11.13] to [LNK-11.19]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tlp/flit_tlp_front.h"

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

struct FlitTlpDecodeResult {
  Tlp tlp;                         ///< as far as it could be read
  bool has_spare_ohc_a = false;    ///< OHC-A is there, but nothing in it needs it
  std::size_t payload_offset = 0;  ///< bytes from the start
  std::optional<FlitTlpError> error;
  std::optional<TlpViolation> violation;  ///< with kRuleBroken: which
  std::size_t error_offset = 0;  ///< byte that broke the rule; the length where bytes are missing
};

/// Decodes one TLP that fills bytes exactly: local prefixes, header, OHC, payload, trailer.
/// Reserved bits are ignored. Also applies check_format. [LNK-11.13] to [LNK-11.19]
FlitTlpDecodeResult decode_flit_mode(const std::uint8_t* bytes, std::size_t count);

}  // namespace flitwise
