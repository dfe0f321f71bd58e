// SPDX-License-Identifier: Apache-2.0
// Front of TLPs in flit mode.
#include "tlp/flit_tlp_front.h"

#include "tlp/dw_bytes.h"
#include "tlp/flit_tlp_layout.h"
#include "tlp/tlp_fields.h"

namespace flitwise {
namespace {

struct ErrorText {
  const char* name;
  const char* sentence;
};
constexpr ErrorText kErrorTexts[kFlitTlpErrors] = {
    {"truncated", "the bytes end inside prefixes, header or OHC"},
    {"nop_tlp", "a NOP TLP; expected one that says something"},
    {"unknown_type", "no TLP of flit mode has this Type"},
    {"uio_not_modelled", "unordered I/O is not modelled"},
    {"ohc_c_not_modelled", "OHC-C (IDE) is not modelled"},
    {"trailer_not_modelled", "trailers other than ECRC are not modelled"},
    {"missing_ohc_a", "an I/O or configuration request without OHC-A"},
    {"unknown_prefix", "a DW of OHC-E is no vendor End-End prefix; others are not modelled"},
    {"too_many_prefixes",
     "too many prefixes; expected at most five, local ones and OHC-E together"},
    {"length_mismatch", "fewer bytes than the first DW announces"},
    {"trailing_bytes", "more bytes than the first DW announces"},
    {"ecrc_mismatch", "ECRC does not fit the bytes"},
    {"rule_broken", "its fields break a rule"},
};

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
  for (int i = 0; i < kTlpTypes && code != FlitTypeCodes::kNone; ++i) {
    const auto type = static_cast<TlpType>(i);
    const FlitTypeCodes codes = flit_type_codes(type);
    const bool is_wide =
        code >= codes.wide && code < codes.wide + (is_message(type) ? kRoutings : 1U);
    if (is_wide || code == codes.narrow) {
      front.tlp.type = type;
      front.tlp.is_4dw = is_wide;
      front.tlp.routing = static_cast<MsgRouting>(is_wide ? code - codes.wide : 0);
      return true;
    }
  }
  const bool is_uio = code == flit_type::kUioMRd || code == flit_type::kUioMWr;
  return fail(front,
              is_uio                    ? FlitTlpError::kUioNotModelled
              : code == flit_type::kNop ? FlitTlpError::kNop
                                        : FlitTlpError::kUnknownType,
              front.header_at);
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

FlitTlpFront read_flit_tlp_front(const std::uint8_t* bytes, std::size_t count) {
  FlitTlpFront front;
  while (count >= front.header_at + 4) {
    const std::uint32_t dw = dw_at(bytes + front.header_at);
    if (!is_flit_mode_local_prefix(bytes[front.header_at])) {
      front.is_complete = read_first_dw(dw, front);
      break;
    }
    if (!read_local_prefix(dw, front)) {
      break;
    }
  }
  return front;
}

const char* name_of(FlitTlpError error) {
  return kErrorTexts[static_cast<std::size_t>(error)].name;
}

const char* sentence_of(FlitTlpError error) {
  return kErrorTexts[static_cast<std::size_t>(error)].sentence;
}

}  // namespace flitwise
