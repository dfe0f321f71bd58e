// SPDX-License-Identifier: Apache-2.0
// Encoder of TLPs in flit mode.
#include "tlp/flit_tlp_encoder.h"

#include <algorithm>
#include <array>

#include "common/byte_vector.h"
#include "flitwise/error.h"
#include "tlp/crc.h"
#include "tlp/dw_bytes.h"
#include "tlp/flit_tlp_layout.h"
#include "tlp/ohc_fields.h"
#include "tlp/tlp_fields.h"

namespace flitwise {
namespace {

using Gap = std::optional<FlitModeGap>;

/// Type[0] and EP count as 1, as in non-flit mode. unverified [LNK-11.19]
constexpr EcrcVariantBits kFlitModeVariantBits = {0x01, 0, 0, 0, 0, 0, 0x80, 0};

Gap find_prefix_gap(const Tlp& tlp) {
  const unsigned locals = local_prefixes(tlp);
  for (unsigned i = 0; i < tlp.other_prefix_count; ++i) {
    const std::uint32_t dw = tlp.other_prefixes[i];
    if (i < locals ? !is_flit_mode_local_prefix(prefix_type(dw)) : !is_in_ohc_e(dw)) {
      return FlitModeGap{"prefixes",
                         "flit mode has no MR-IOV prefix, and those of TPH and IDE are not modelled"
                         " there; expected 8d, 8e or 8f local ones, 9e or 9f End-End ones"};
    }
  }
  if (tlp.other_prefix_count - locals > kOhcEDws.back()) {
    return FlitModeGap{"prefixes", "more than four End-End prefixes; OHC-E has four DWs at most"};
  }
  if (tlp.has_pasid && tlp.prefixes_before_pasid > locals) {
    return FlitModeGap{"prefixes_before_pasid",
                       "OHC-A stands before OHC-E; expected no End-End prefix before the PASID"};
  }
  return std::nullopt;
}

Gap find_tag_gap(const Tlp& tlp) {
  if (is_message(tlp.type) && tlp.tag >> kMessageTagBits != 0) {
    return FlitModeGap{"tag", "the tag of a message has six bits in flit mode; expected 0 to 63"};
  }
  if (tlp.tag >> kFlitModeTagBits != 0) {
    return FlitModeGap{"tag", "a tag has 14 bits in flit mode; expected 0 to 16383"};
  }
  return std::nullopt;
}

Gap find_memory_gap(const Tlp& tlp) {
  if (tlp.has_processing_hint) {
    return std::nullopt;
  }
  if (tlp.processing_hint != 0 && !is_translation_request(tlp)) {
    return FlitModeGap{"ph", "without th there is no OHC-B; expected 0"};
  }
  if (has_no_byte_enables(tlp) && !has_full_byte_enables(tlp)) {
    return FlitModeGap{"first_be", "atomics have no byte enables in flit mode; expected all set"};
  }
  return std::nullopt;
}

// [LNK-11.13]
std::uint32_t type_and_ohc(const Tlp& tlp, bool with_ohc_a) {
  const FlitTypeCodes codes = flit_type_codes(tlp.type);
  const std::uint32_t type = header_bytes(tlp) == 16 ? codes.wide : codes.narrow;
  const auto* const ohc_e = std::find(kOhcEDws.begin(), kOhcEDws.end(), ohc_e_dws(tlp));
  return type << 24 | static_cast<std::uint32_t>(ohc_e - kOhcEDws.begin()) << kOhcEShift |
         bit_at(with_ohc_a, kOhcABit);
}

void put_header(const Tlp& tlp, bool with_ohc_a, ByteVector& out) {
  Tlp shown = tlp;
  shown.tag = tag_in_header(tlp);
  std::array<std::uint32_t, 4> header = header_bits(shown, TlpForm::kFlit);
  header[0] |= type_and_ohc(tlp, with_ohc_a);
  for (unsigned i = 0; i < header_bytes(tlp) / 4U; ++i) {
    put_dw(out, header[i]);
  }
}

}  // namespace

std::optional<FlitModeGap> find_flit_mode_gap(const Tlp& tlp) {
  if (tlp.at != AddressType::kUntranslated && !is_memory_request(tlp.type)) {
    return FlitModeGap{"at", "only memory requests have AT in flit mode; expected untranslated"};
  }
  if (tlp.bcm) {
    return FlitModeGap{"bcm", "flit mode has no BCM; expected false"};
  }
  if (tlp.id_is_handle && is_completion(tlp.type)) {
    return FlitModeGap{"id_is_handle", "completions have no handle bit in flit mode"};
  }
  const OhcA ohc_a = ohc_a_kind(tlp);
  if (tlp.has_pasid && ohc_a != OhcA::kA1 && ohc_a != OhcA::kA4) {
    return FlitModeGap{"pasid", "the OHC-A of this type has no PASID"};
  }
  if (const Gap gap = find_tag_gap(tlp)) {
    return gap;
  }
  const Gap gap = is_memory_request(tlp.type) ? find_memory_gap(tlp) : std::nullopt;
  return gap ? gap : find_prefix_gap(tlp);
}

void encode_flit_mode(const Tlp& tlp, bool has_spare_ohc_a, const std::uint8_t* payload,
                      std::size_t payload_bytes, ByteVector& out) {
  FLITWISE_CHECK(payload_bytes <= data_bytes(tlp), "payload longer than Length");
  FLITWISE_CHECK(!find_flit_mode_gap(tlp), "a field that flit mode has not");
  const std::size_t start = out.size();
  const bool with_ohc_a = has_spare_ohc_a || has_ohc_a(tlp);
  const unsigned locals = local_prefixes(tlp);
  for (unsigned i = 0; i < locals; ++i) {
    put_dw(out, tlp.other_prefixes[i]);
  }
  put_header(tlp, with_ohc_a, out);
  if (with_ohc_a) {
    put_dw(out, encode_ohc_a(tlp));
  }
  if (has_ohc_b(tlp)) {
    put_dw(out, encode_ohc_b(tlp));
  }
  for (unsigned i = 0; i < ohc_e_dws(tlp); ++i) {  // three fill four with a 0
    put_dw(out, locals + i < tlp.other_prefix_count ? tlp.other_prefixes[locals + i] : 0U);
  }
  out.insert(out.end(), payload, payload + payload_bytes);
  out.insert(out.end(), data_bytes(tlp) - payload_bytes + (tlp.has_ecrc ? 4U : 0U), 0);
  write_flit_mode_ecrc(tlp, out.data() + start, out.size() - start);
}

std::uint32_t flit_mode_ecrc(const std::uint8_t* tlp, std::size_t count, std::size_t header_at) {
  return ecrc(tlp, count, header_at, header_at, kFlitModeVariantBits);
}

void write_flit_mode_ecrc(const Tlp& tlp, std::uint8_t* bytes, std::size_t count) {
  if (!tlp.has_ecrc) {
    return;
  }
  const std::size_t place = count - 4;
  put_ecrc(flit_mode_ecrc(bytes, place, std::size_t{4} * local_prefixes(tlp)), bytes + place);
}

}  // namespace flitwise
