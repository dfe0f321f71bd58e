// SPDX-License-Identifier: Apache-2.0
// Any bytes make a TLP or a violation with its place, and what was decoded encodes to the same
// bytes.
#include "codec/packet_json.h"
#include "common/byte_vector.h"
#include "fuzz/fuzz_support.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

// Violations of fields and limits leave a TLP whose extent is known.
bool is_whole(const DecodeResult& decoded) {
  return !decoded.error || *decoded.error >= TlpViolation::kBadByteEnables;
}

/// Bits of DW `index` of the header that no field owns. [LNK-2.1] [LNK-2.4] [LNK-2.5]
std::uint32_t reserved_bits(const Tlp& tlp, unsigned index) {
  if (index != header_bytes(tlp) / 4 - 1U || is_message(tlp.type)) {
    return 0;
  }
  if (is_completion(tlp.type)) {
    return 0x80U;
  }
  return is_configuration(tlp.type) ? 0xf003U : is_io(tlp.type) ? 3U : 0U;
}

// What encoding changes is reserved bits and nothing else, so that no field was lost.
void check_header(const Tlp& tlp, const ByteVector& bytes, const ByteVector& plain) {
  const std::size_t start = prefix_bytes(tlp);
  for (unsigned i = 0; i < header_bytes(tlp); ++i) {
    const std::uint32_t difference = static_cast<unsigned>(bytes[start + i] ^ plain[start + i]);
    const std::uint32_t reserved = reserved_bits(tlp, i / 4) >> (24 - 8 * (i % 4));
    FLITWISE_PROPERTY((difference & ~reserved) == 0);
  }
}

void check_whole(const DecodeResult& decoded, const ByteVector& bytes) {
  FLITWISE_PROPERTY(tlp_bytes(decoded.tlp) == bytes.size());
  FLITWISE_PROPERTY(decoded.payload_bytes == data_bytes(decoded.tlp));
  FLITWISE_PROPERTY(check_format(decoded.tlp) == decoded.error);
  FLITWISE_PROPERTY(bytes_of(document_of(decoded.tlp, bytes, decoded.payload_offset)) == bytes);

  ByteVector plain;  // the same without reserved bits
  encode(decoded.tlp, bytes.data() + decoded.payload_offset, decoded.payload_bytes, plain);
  check_header(decoded.tlp, bytes, plain);
  const DecodeResult again = decode_tlp(plain.data(), plain.size());
  FLITWISE_PROPERTY(again.error == decoded.error);
  FLITWISE_PROPERTY(again.payload_offset == decoded.payload_offset);
  ByteVector twice;
  encode(again.tlp, plain.data() + again.payload_offset, again.payload_bytes, twice);
  FLITWISE_PROPERTY(twice == plain);
}

void check_limits(const DecodeResult& decoded) {
  for (const TlpLimits& limits :
       {TlpLimits{}, TlpLimits{0, 0, false, false}, TlpLimits{128, 1, true, false}}) {
    const auto violation = check_tlp(decoded.tlp, limits);
    FLITWISE_PROPERTY(!decoded.error || violation);
    FLITWISE_PROPERTY(!violation || *sentence_of(*violation) != '\0');
  }
}

void check(const ByteVector& bytes) {
  const DecodeResult decoded = decode_tlp(bytes.data(), bytes.size());
  FLITWISE_PROPERTY(!decoded.error || decoded.error_offset <= bytes.size());
  if (is_whole(decoded)) {
    check_whole(decoded, bytes);
    check_limits(decoded);
  } else if (decoded.error == TlpViolation::kEcrcMismatch) {
    ByteVector mended = bytes;
    write_ecrc(decoded.tlp, mended.data());
    const DecodeResult again = decode_tlp(mended.data(), mended.size());
    FLITWISE_PROPERTY(is_whole(again));
    check_whole(again, mended);
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::check(flitwise::fuzz::bytes_of_input(data, size));
  return 0;
}
