// SPDX-License-Identifier: Apache-2.0
// Bytes as a RoCEv2 frame: they are refused with their place, or come back from JSON as the same
// bytes; so does the frame with its checksums mended. A text in JSON is refused with ConfigError,
// or its frame comes back.
#include "codec/json_value.h"
#include "codec/roce_json.h"
#include "fuzz/fuzz_support.h"
#include "network/roce_frame.h"

namespace flitwise {
namespace {

void check_frame(const ByteVector& bytes) {
  const RoceRead read = read_roce(bytes.data(), bytes.size());
  if (read.flaw) {
    FLITWISE_PROPERTY(read.flaw->offset <= bytes.size());
    FLITWISE_PROPERTY(!read.flaw->sentence().empty());
  }
  const PacketRead packet = read_roce_frame(bytes, false);
  FLITWISE_PROPERTY(packet.flaw.has_value() == (read.flaw && !read.flaw->breaks_rule_only()));
  if (packet.flaw) {
    return;
  }
  FLITWISE_PROPERTY(read.parts.end() <= bytes.size());
  FLITWISE_PROPERTY(roce_from_json(packet.json, {}) == bytes);
  ByteVector mended = bytes;
  seal_roce(mended.data(), read.parts);
  const RoceRead again = read_roce(mended.data(), mended.size());
  FLITWISE_PROPERTY(again.is_icrc_good);
  FLITWISE_PROPERTY(!again.flaw || again.flaw->error > RoceError::kUdpChecksum);
}

void check_json(const nlohmann::ordered_json& json) {
  try {
    check_frame(roce_from_json(json, {}));
  } catch (const ConfigError& error) {
    FLITWISE_PROPERTY(!error.problems().empty());
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  check_frame(fuzz::bytes_of_input(data, size));
  if (size > 0 && data[0] == '{') {
    const auto json = json_value::parse(fuzz::text_of_input(data, size));
    if (!json.is_discarded()) {
      check_json(json);
    }
  }
  return 0;
}
