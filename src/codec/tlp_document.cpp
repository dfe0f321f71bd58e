// SPDX-License-Identifier: Apache-2.0
// TLPs with all that their bytes hold: payload, and bits that no field owns; or what is wrong.
#include "codec/packet_json.h"
#include "common/byte_vector.h"
#include "tlp/dw_bytes.h"
#include "tlp/flit_tlp_codec.h"
#include "tlp/header_layout.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

// With the payload, and what encoding would not bring back of what stands before it.
TlpDocument completed(TlpDocument document, const ByteVector& bytes, std::size_t payload_offset) {
  const auto payload = bytes.begin() + static_cast<std::ptrdiff_t>(payload_offset);
  document.payload.assign(payload, payload + static_cast<std::ptrdiff_t>(data_bytes(document.tlp)));
  const ByteVector plain = bytes_of(document);
  for (std::size_t at = 0; at < payload_offset; at += 4) {
    document.reserved.push_back(dw_at(&bytes[at]) ^ dw_at(&plain[at]));
  }
  while (!document.reserved.empty() && document.reserved.back() == 0) {
    document.reserved.pop_back();
  }
  return document;
}

template <class Error>
PacketRead flawed(Error error, std::size_t offset) {
  return {{}, PacketFlaw{name_of(error), sentence_of(error), offset}};
}

}  // namespace

TlpDocument document_of(const Tlp& tlp, const ByteVector& bytes, std::size_t payload_offset) {
  TlpDocument document;
  document.tlp = tlp;
  if (is_translation_request(tlp)) {
    document.tlp.processing_hint &= 1U << kNoWriteBit;
  }
  return completed(std::move(document), bytes, payload_offset);
}

TlpDocument document_of(const FlitTlpDecodeResult& decoded, const ByteVector& bytes) {
  return completed({decoded.tlp, {}, {}, TlpForm::kFlit, decoded.has_spare_ohc_a}, bytes,
                   decoded.payload_offset);
}

ByteVector bytes_of(const TlpDocument& document) {
  const bool is_flit = document.form == TlpForm::kFlit;
  const ByteVector& payload = document.payload;
  ByteVector bytes;
  if (is_flit) {
    encode_flit_mode(document.tlp, document.has_spare_ohc_a, payload.data(), payload.size(), bytes);
  } else {
    encode(document.tlp, payload.data(), payload.size(), bytes);
  }
  for (std::size_t i = 0; i < 4 * document.reserved.size(); ++i) {
    bytes[i] ^= static_cast<std::uint8_t>(document.reserved[i / 4] >> (24 - 8 * (i % 4)));
  }
  if (is_flit) {
    write_flit_mode_ecrc(document.tlp, bytes.data(), bytes.size());
  } else {
    write_ecrc(document.tlp, bytes.data());
  }
  return bytes;
}

PacketRead read_tlp(const ByteVector& bytes, TlpForm form, bool checks) {
  // What is wrong with the bytes themselves is wrong without checks too.
  if (form == TlpForm::kNonFlit) {
    const DecodeResult result = decode_tlp(bytes.data(), bytes.size());
    if (result.error && (checks || *result.error < TlpViolation::kBadByteEnables)) {
      return flawed(*result.error, result.error_offset);
    }
    return {json_of(document_of(result.tlp, bytes, result.payload_offset)), std::nullopt};
  }
  const FlitTlpDecodeResult result = decode_flit_mode(bytes.data(), bytes.size());
  if (result.violation && checks) {
    return flawed(*result.violation, result.error_offset);
  }
  if (result.error && !result.violation) {
    return flawed(*result.error, result.error_offset);
  }
  return {json_of(document_of(result, bytes)), std::nullopt};
}

}  // namespace flitwise
