// SPDX-License-Identifier: Apache-2.0
/// TLPs between fields and the bytes of flit mode: any bytes give a TLP or a typed error with its
/// place. [LNK-11.13] to [LNK-11.19]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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

/// Local prefixes and the first DW, which settle where a TLP ends. What finds TLPs in flits needs
/// no more. [LNK-11.13]
struct FlitTlpFront {
  Tlp tlp;                   ///< as far as it could be read
  bool is_complete = false;  ///< false: it takes more bytes to tell
  bool has_ohc_a = false;
  unsigned ohc_e_dws = 0;
  std::size_t header_at = 0;  ///< bytes of local prefixes
  std::optional<FlitTlpError> error;
  std::size_t error_offset = 0;  ///< byte that broke the rule; the length where bytes are missing

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

/// The whole of a TLP.
struct FlitTlpDecodeResult : FlitTlpFront {
  bool has_spare_ohc_a = false;           ///< OHC-A is there, but nothing in it needs it
  std::optional<TlpViolation> violation;  ///< with kRuleBroken: which
};

/// Decodes one TLP that fills bytes exactly: local prefixes, header, OHC, payload, trailer.
/// Reserved bits are ignored. Also applies check_format. [LNK-11.13] to [LNK-11.19]
FlitTlpDecodeResult decode_flit_mode(const std::uint8_t* bytes, std::size_t count);

}  // namespace flitwise
