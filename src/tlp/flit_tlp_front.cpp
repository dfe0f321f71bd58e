// SPDX-License-Identifier: Apache-2.0
// Front of TLPs in flit mode.
#include "tlp/flit_tlp_front.h"

#include <array>

#include "tlp/dw_bytes.h"
#include "tlp/flit_tlp_layout.h"
#include "tlp/tlp_fields.h"

namespace flitwise {
namespace {

constexpr unsigned kRoutings = static_cast<unsigned>(MsgRouting::kGathered) + 1U;

bool fail(FlitTlpFront& front, FlitTlpError error, std::size_t offset) {
  front.error = error;
  front.error_offset = offset;
  return false;
}

bool read_local_prefix(std::uint32_t dw, FlitTlpFront& front) {
  Tlp& tlp = front.tlp;
  if (tlp.other_prefix_count == tlp.other_prefixes.size()) {
    return fail(front, FlitTlpError::kTooManyPrefixes, front.header_at);
  }
  tlp.other_prefixes[tlp.other_prefix_count++] = dw;
  front.header_at += 4;
  return true;
}

bool read_type(std::uint8_t code, FlitTlpFront& front) {
  const std::optional<FlitType> found = find_flit_type(code);
  if (!found) {
    const bool is_uio = code == flit_type::kUioMRd || code == flit_type::kUioMWr;
    return fail(front,
                is_uio                    ? FlitTlpError::kUioNotModelled
                : code == flit_type::kNop ? FlitTlpError::kNop
                                          : FlitTlpError::kUnknownType,
                front.header_at);
  }
  front.tlp.type = found->type;
  front.tlp.is_4dw = found->is_4dw;
  front.tlp.routing = found->routing;
  return true;
}

// [LNK-11.13]
bool read_first_dw(std::uint32_t dw, FlitTlpFront& front) {
  Tlp& tlp = front.tlp;
  if (!read_type(static_cast<std::uint8_t>(dw >> 24), front)) {
    return false;
  }
  if (has_bit(dw, kOhcCBit)) {
    return fail(front, FlitTlpError::kOhcCNotModelled, front.header_at + 1);
  }
  front.has_ohc_a = has_bit(dw, kOhcABit);
  if (!front.has_ohc_a && (is_io(tlp.type) || is_configuration(tlp.type))) {
    return fail(front, FlitTlpError::kMissingOhcA, front.header_at + 1);
  }
  front.ohc_e_dws = kOhcEDws[(dw >> kOhcEShift) & 3U];
  const unsigned trailer = (dw >> trailer::kShift) & 7U;
  if (trailer != trailer::kNone && trailer != trailer::kEcrc) {
    return fail(front, FlitTlpError::kTrailerNotModelled, front.header_at + 2);
  }
  take_header_dw(dw, 0, TlpForm::kFlit, tlp);
  return true;
}

}  // namespace

std::optional<FlitType> find_flit_type(std::uint8_t code) {
  if (code == FlitTypeCodes::kNone) {
    return std::nullopt;
  }
  for (int i = 0; i < kTlpTypes; ++i) {
    const auto type = static_cast<TlpType>(i);
    const FlitTypeCodes codes = flit_type_codes(type);
    if (is_message(type) && code >= codes.wide && code < codes.wide + kRoutings) {
      return FlitType{type, true, static_cast<MsgRouting>(code - codes.wide)};
    }
    if (!is_message(type) && (code == codes.narrow || code == codes.wide)) {
      return FlitType{type, code == codes.wide, MsgRouting::kToRootComplex};
    }
  }
  return std::nullopt;
}

FlitTlpFront read_flit_tlp_front(const std::uint8_t* bytes, std::size_t count) {
  FlitTlpFront front;
  while (count >= front.header_at + 4) {
    const std::uint32_t dw = dw_at(bytes + front.header_at);
    if (is_flit_mode_local_prefix(bytes[front.header_at])) {
      if (!read_local_prefix(dw, front)) {
        return front;
      }
      continue;
    }
    front.is_complete = read_first_dw(dw, front);
    return front;
  }
  return front;
}

const char* name_of(FlitTlpError error) {
  static constexpr std::array<const char*, kFlitTlpErrors> kNames = {
      "truncated",          "nop_tlp",
      "unknown_type",       "uio_not_modelled",
      "ohc_c_not_modelled", "trailer_not_modelled",
      "missing_ohc_a",      "unknown_prefix",
      "too_many_prefixes",  "length_mismatch",
      "trailing_bytes",     "ecrc_mismatch",
      "rule_broken"};
  return kNames[static_cast<std::size_t>(error)];
}

const char* sentence_of(FlitTlpError error) {
  static constexpr std::array<const char*, kFlitTlpErrors> kSentences = {
      "the bytes end inside prefixes, header or OHC",
      "a NOP TLP; expected one that says something",
      "no TLP of flit mode has this Type",
      "unordered I/O is not modelled",
      "OHC-C (IDE) is not modelled",
      "trailers other than ECRC are not modelled",
      "an I/O or configuration request without OHC-A",
      "a DW of OHC-E is no vendor End-End prefix; others are not modelled",
      "too many prefixes; expected at most five, local ones and OHC-E together",
      "fewer bytes than the first DW announces",
      "more bytes than the first DW announces",
      "ECRC does not fit the bytes",
      "its fields break a rule"};
  return kSentences[static_cast<std::size_t>(error)];
}

}  // namespace flitwise
