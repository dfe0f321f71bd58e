// SPDX-License-Identifier: Apache-2.0
/// The front of a TLP in flit mode: local prefixes and the first DW, which settle where it ends.
/// What finds TLPs in flits needs no more. [LNK-11.13]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "flitwise/tlp.h"
#include "tlp/tlp_check.h"

namespace flitwise {

/// What is wrong with the bytes of a TLP in flit mode. Those that are not modelled may be fine.
enum class FlitTlpError : std::uint8_t {
  kTruncated,           ///< the bytes end inside prefixes, header or OHC
  kNop,                 ///< a NOP TLP: fill, and no TLP [LNK-11.2]
  kUnknownType,         ///< [LNK-11.13]
  kUioNotModelled,      ///< UIOMRd, UIOMWr
  kOhcCNotModelled,     ///< IDE
  kTrailerNotModelled,  ///< anything but none and ECRC
  kMissingOhcA,         ///< of an I/O or configuration request [LNK-11.10]
  kUnknownPrefix,       ///< a DW of OHC-E that is no End-End prefix of flit mode [LNK-11.18]
  kTooManyPrefixes,     ///< more than Tlp::other_prefixes holds
  kLengthMismatch,      ///< fewer bytes than the first DW announces
  kTrailingBytes,       ///< more bytes than that
  kEcrcMismatch,        ///< [LNK-11.19]
  kRuleBroken,          ///< its fields break a rule of both modes: a TlpViolation beside it
};
inline constexpr int kFlitTlpErrors = 13;

const char* name_of(FlitTlpError error);      ///< "truncated", "nop_tlp", ...
const char* sentence_of(FlitTlpError error);  ///< for people

struct FlitTlpFront {
  Tlp tlp;                   ///< local prefixes, and what the first DW holds
  bool is_complete = false;  ///< false: it takes more bytes to tell
  bool has_ohc_a = false;
  unsigned ohc_e_dws = 0;
  std::size_t header_at = 0;  ///< bytes of local prefixes
  std::optional<FlitTlpError> error;
  std::size_t error_offset = 0;

  std::size_t ohc_at() const { return header_at + header_bytes(tlp); }
  std::size_t ohc_e_at() const {
    return ohc_at() + (has_ohc_a ? 4U : 0U) + (tlp.has_processing_hint ? 4U : 0U);
  }
  std::size_t payload_at() const { return ohc_e_at() + std::size_t{4} * ohc_e_dws; }
  std::size_t trailer_at() const { return payload_at() + data_bytes(tlp); }
  /// Bytes of the whole TLP. REQUIRES: is_complete, no error.
  std::size_t bytes() const { return trailer_at() + (tlp.has_ecrc ? 4U : 0U); }
};

FlitTlpFront read_flit_tlp_front(const std::uint8_t* bytes, std::size_t count);

}  // namespace flitwise
