// SPDX-License-Identifier: Apache-2.0
// The first byte chooses form and direction of a stream of flits, the second the bits of an
// identity; what follows is flit upon flit, as they are and with their CRC mended. Each is refused
// with its place, or comes back from JSON as flits that say the same.
#include <algorithm>

#include "codec/cxl_flit_json.h"
#include "common/byte_vector.h"
#include "cxl/flit_frame.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

/// One direction of a link: what the bytes say, and what its JSON says.
class Streams {
 public:
  explicit Streams(const CxlFlitKind& kind) : kind_(kind) {}

  void check(const ByteVector& bytes) {
    const CxlFlitStream::Read read = received_.read(kind_, bytes);
    if (read.error) {
      FLITWISE_PROPERTY(read.error_offset <= bytes.size());
      return;
    }
    nlohmann::ordered_json json = read.json;
    json.erase("crc");  // reserved bits are not in JSON
    const std::vector<ByteVector> again = encoded_.bytes_of(json, {});
    FLITWISE_PROPERTY(again.size() == 1 && again[0].size() == bytes.size());
    const CxlFlitStream::Read twice = read_again_.read(kind_, again[0]);
    FLITWISE_PROPERTY(!twice.error);
    nlohmann::ordered_json json_again = twice.json;
    json_again.erase("crc");
    FLITWISE_PROPERTY(json_again == json);
  }

 private:
  CxlFlitKind kind_;
  CxlFlitStream received_, encoded_, read_again_;
};

ByteVector mended(CxlFlitForm form, const ByteVector& bytes) {
  return framed(form, body_of(form, bytes.data()),
                form == CxlFlitForm::k68 ? std::array<std::uint8_t, kCxlFecBytes>{}
                                         : fec_of(form, bytes.data()));
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  if (size < 2) {
    return 0;
  }
  CxlFlitKind kind;
  kind.form = static_cast<CxlFlitForm>(data[0] % 3);
  kind.direction = (data[0] & 0x80U) != 0 ? CxlDirection::kUpstream : CxlDirection::kDownstream;
  kind.identity_bits = data[1] % (kMostIdentityBits + 1);
  Streams streams(kind);
  const std::size_t step = bytes_of(kind.form);
  for (std::size_t at = 2; at < size; at += step) {
    const ByteVector bytes = fuzz::bytes_of_input(data + at, std::min(step, size - at));
    streams.check(bytes);
    if (bytes.size() == step) {
      streams.check(mended(kind.form, bytes));
    }
  }
  return 0;
}
