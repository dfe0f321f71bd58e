// SPDX-License-Identifier: Apache-2.0
// A text as flits of CXL.cache and CXL.mem in JSON, one or a list: it is refused with ConfigError,
// or its bytes read back without error.
#include "codec/cxl_flit_json.h"
#include "codec/json_value.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

void check(const Json& json, CxlFlitStream& sent, CxlFlitStream& received) {
  const auto bytes = sent.bytes_of(json, {});
  Json kind_json = Json::object();
  for (const char* key : {"flit", "direction", "identity_bits"}) {
    if (json.contains(key)) {
      kind_json[key] = json[key];
    }
  }
  const CxlGivenKind given = cxl_kind_from_json(kind_json, {});
  const CxlFlitKind kind = {*given.form, given.direction.value_or(CxlDirection::kDownstream),
                            given.identity_bits};
  for (const auto& flit : bytes) {
    const CxlFlitStream::Read read = received.read(kind, flit);
    FLITWISE_PROPERTY(!read.error);
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  const Json json = json_value::parse(fuzz::text_of_input(data, size));
  if (json.is_discarded()) {
    return 0;
  }
  CxlFlitStream sent, received;
  try {
    if (json.is_array()) {
      for (const Json& item : json) {
        check(item, sent, received);
      }
    } else {
      check(json, sent, received);
    }
  } catch (const ConfigError& error) {
    FLITWISE_PROPERTY(!error.problems().empty());
  }
  return 0;
}
