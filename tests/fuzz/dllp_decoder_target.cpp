// SPDX-License-Identifier: Apache-2.0
// Any bytes make a DLLP or an error with its place; a DLLP comes back unchanged from bytes and
// JSON.
#include <algorithm>

#include "codec/packet_json.h"
#include "common/byte_vector.h"
#include "fuzz/fuzz_support.h"
#include "tlp/crc.h"
#include "tlp/dllp_codec.h"

namespace flitwise {
namespace {

void check_good(const Dllp& dllp, const ByteVector& bytes) {
  const auto encoded = encode(dllp);
  FLITWISE_PROPERTY(std::equal(encoded.begin(), encoded.end(), bytes.begin(), bytes.end()));
  FLITWISE_PROPERTY(encode(dllp_from_json(json_of(dllp), {})) == encoded);
}

void check(ByteVector bytes) {
  DllpDecodeResult decoded = decode_dllp(bytes.data(), bytes.size());
  FLITWISE_PROPERTY(!decoded.error || decoded.error_offset <= bytes.size());
  if (decoded.error == DllpError::kBadCrc) {
    const std::uint16_t crc = dllp_crc16({bytes[0], bytes[1], bytes[2], bytes[3]});
    bytes[4] = static_cast<std::uint8_t>(crc & 0xffU);
    bytes[5] = static_cast<std::uint8_t>(crc >> 8);
    decoded = decode_dllp(bytes.data(), bytes.size());
    FLITWISE_PROPERTY(decoded.error != DllpError::kBadCrc);
  }
  if (!decoded.error) {
    check_good(decoded.dllp, bytes);
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::check(flitwise::fuzz::bytes_of_input(data, size));
  return 0;
}
