// SPDX-License-Identifier: Apache-2.0
/// Bytes of flit mode to fields: any bytes give a TLP or a typed error with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tlp/flit_tlp_front.h"

namespace flitwise {

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
