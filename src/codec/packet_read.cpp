// SPDX-License-Identifier: Apache-2.0
// Bytes of packets to JSON.
#include "codec/packet_read.h"

#include "common/byte_vector.h"
#include "tlp/flit_tlp_decoder.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_decoder.h"

namespace flitwise {
namespace {

template <class Error>
PacketRead flawed(Error error, std::size_t offset) {
  return {{}, PacketFlaw{name_of(error), sentence_of(error), offset}};
}

// What is wrong with the bytes themselves is wrong without checks too.
PacketRead read_non_flit(const ByteVector& bytes, bool checks) {
  const DecodeResult result = decode_tlp(bytes.data(), bytes.size());
  if (result.error && (checks || *result.error < TlpViolation::kBadByteEnables)) {
    return flawed(*result.error, result.error_offset);
  }
  return {json_of(document_of(result.tlp, bytes, result.payload_offset)), std::nullopt};
}

PacketRead read_flit_mode(const ByteVector& bytes, bool checks) {
  const FlitTlpDecodeResult result = decode_flit_mode(bytes.data(), bytes.size());
  if (result.violation && checks) {
    return flawed(*result.violation, result.error_offset);
  }
  if (result.error && !result.violation) {
    return flawed(*result.error, result.error_offset);
  }
  return {json_of(document_of(result, bytes)), std::nullopt};
}

}  // namespace

PacketRead read_tlp(const ByteVector& bytes, TlpForm form, bool checks) {
  return form == TlpForm::kFlit ? read_flit_mode(bytes, checks) : read_non_flit(bytes, checks);
}

}  // namespace flitwise
