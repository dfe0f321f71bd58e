// SPDX-License-Identifier: Apache-2.0
// Any bytes make a TLP of flit mode or an error with its place, and what was decoded encodes to the
// same bytes, from JSON as well.
#include "codec/packet_json.h"
#include "common/byte_vector.h"
#include "fuzz/fuzz_support.h"
#include "tlp/flit_tlp_codec.h"
#include "tlp/ohc.h"

namespace flitwise {
namespace {

// The front announces what the decoder accepts.
void check_front(const FlitTlpDecodeResult& decoded, const ByteVector& bytes) {
  const FlitTlpFront front = read_flit_tlp_front(bytes.data(), bytes.size());
  FLITWISE_PROPERTY(!front.error || decoded.error == front.error);
  FLITWISE_PROPERTY(!front.error || !front.is_complete);
  FLITWISE_PROPERTY(front.error_offset <= bytes.size());
  FLITWISE_PROPERTY(decoded.error || front.bytes() == bytes.size());
}

void check_whole(const FlitTlpDecodeResult& decoded, const ByteVector& bytes) {
  const bool has_spare = decoded.has_spare_ohc_a;
  FLITWISE_PROPERTY(!find_flit_mode_gap(decoded.tlp));
  FLITWISE_PROPERTY(!has_spare || !has_ohc_a(decoded.tlp));
  FLITWISE_PROPERTY(flit_mode_tlp_bytes(decoded.tlp) + (has_spare ? 4U : 0U) == bytes.size());
  const TlpDocument document = document_of(decoded, bytes);
  FLITWISE_PROPERTY(bytes_of(document) == bytes);
  FLITWISE_PROPERTY(bytes_of(tlp_from_json(json_of(document), {}, TlpForm::kFlit)) == bytes);

  ByteVector plain;  // the same without reserved bits
  encode_flit_mode(decoded.tlp, has_spare, document.payload.data(), document.payload.size(), plain);
  const FlitTlpDecodeResult again = decode_flit_mode(plain.data(), plain.size());
  FLITWISE_PROPERTY(again.error == decoded.error && again.violation == decoded.violation);
  FLITWISE_PROPERTY(bytes_of(document_of(again, plain)) == plain);
  FLITWISE_PROPERTY(document_of(again, plain).reserved.empty());
}

void check(const ByteVector& bytes) {
  const FlitTlpDecodeResult decoded = decode_flit_mode(bytes.data(), bytes.size());
  FLITWISE_PROPERTY(!decoded.error || decoded.error_offset <= bytes.size());
  FLITWISE_PROPERTY(decoded.violation.has_value() == (decoded.error == FlitTlpError::kRuleBroken));
  check_front(decoded, bytes);
  if (!decoded.error || decoded.violation) {
    check_whole(decoded, bytes);
  } else if (decoded.error == FlitTlpError::kEcrcMismatch) {
    ByteVector mended = bytes;
    write_flit_mode_ecrc(decoded.tlp, mended.data(), mended.size());
    const FlitTlpDecodeResult again = decode_flit_mode(mended.data(), mended.size());
    FLITWISE_PROPERTY(!again.error || again.violation);
    check_whole(again, mended);
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::check(flitwise::fuzz::bytes_of_input(data, size));
  return 0;
}
