// SPDX-License-Identifier: Apache-2.0
/// Bytes to fields: any bytes give a TLP or a typed violation with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "flitwise/tlp.h"
#include "tlp/tlp_check.h"

namespace flitwise {

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
