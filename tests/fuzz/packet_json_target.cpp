// SPDX-License-Identifier: Apache-2.0
// A text as a packet in JSON: it is refused with ConfigError, or its bytes and its JSON read back
// as the same packet.
#include <algorithm>

#include "codec/json_value.h"
#include "codec/packet_json.h"
#include "fuzz/fuzz_support.h"
#include "tlp/dllp_codec.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

void check_tlp_document(const Json& json) {
  const TlpDocument document = tlp_from_json(json, {});
  const std::vector<std::uint8_t> bytes = bytes_of(document);
  FLITWISE_PROPERTY(bytes.size() == tlp_bytes(document.tlp));
  FLITWISE_PROPERTY(bytes_of(tlp_from_json(json_of(document), {})) == bytes);
  const DecodeResult decoded = decode_tlp(bytes.data(), bytes.size());
  if (!decoded.error) {
    const TlpDocument again = document_of(decoded.tlp, bytes, decoded.payload_offset);
    FLITWISE_PROPERTY(bytes_of(again) == bytes);
    FLITWISE_PROPERTY(bytes_of(tlp_from_json(json_of(again), {})) == bytes);
  }
}

void check_flit_mode_document(const Json& json) {
  const TlpDocument document = tlp_from_json(json, {}, TlpForm::kFlit);
  const std::vector<std::uint8_t> bytes = bytes_of(document);
  FLITWISE_PROPERTY(bytes_of(tlp_from_json(json_of(document), {}, TlpForm::kFlit)) == bytes);
  const FlitTlpDecodeResult decoded = decode_flit_mode(bytes.data(), bytes.size());
  if (!decoded.error) {
    const TlpDocument again = document_of(decoded, bytes);
    FLITWISE_PROPERTY(bytes_of(again) == bytes);
    FLITWISE_PROPERTY(bytes_of(tlp_from_json(json_of(again), {}, TlpForm::kFlit)) == bytes);
  }
}

void check_dllp(const Json& json) {
  const Dllp dllp = dllp_from_json(json, {}, false);
  const auto bytes = encode(dllp);
  FLITWISE_PROPERTY(!decode_dllp(bytes.data(), bytes.size()).error);
  FLITWISE_PROPERTY(encode(dllp_from_json(json_of(dllp), {}, false)) == bytes);
}

template <class Check>
void expect_config_error_only(Check check) {
  try {
    check();
  } catch (const ConfigError& error) {
    FLITWISE_PROPERTY(!error.problems().empty());
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  const Json json = json_value::parse(fuzz::text_of_input(data, size));
  if (!json.is_discarded()) {
    expect_config_error_only([&] { check_tlp_document(json); });
    expect_config_error_only([&] { check_flit_mode_document(json); });
    expect_config_error_only([&] { check_dllp(json); });
  }
  return 0;
}
