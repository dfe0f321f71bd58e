// SPDX-License-Identifier: Apache-2.0
// A text as one line of a script: an operation within its ranges, or a ConfigError that can be
// printed.
#include "codec/json_value.h"
#include "common/page.h"
#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"
#include "script/script_line.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

struct InRange {
  bool operator()(const PokeOp& op) const { return op.bytes.size() <= kMostScriptBytes; }
  bool operator()(const PeekOp& op) const { return op.bytes >= 1 && op.bytes <= kMostScriptBytes; }
  bool operator()(const TlpOp& op) const { return op.bytes.size() <= kMostTlpBytes; }
  bool operator()(const DmaOp& op) const { return !op.is_write || op.bytes == op.data.size(); }
  bool operator()(const MmioOp& op) const {
    return op.is_write || (op.bytes >= 1 && op.address % kPageBytes + op.bytes <= kPageBytes);
  }
  bool operator()(const CfgOp& op) const {
    return (op.bytes == 1 || op.bytes == 2 || op.bytes == 4) && op.offset % op.bytes == 0;
  }
  bool operator()(const FaultOp& op) const { return op.fault.nth >= 1 && op.fault.count >= 1; }
  bool operator()(const RunOp& op) const { return !op.span || *op.span >= Time{}; }
  bool operator()(const FrameOp& op) const {
    return op.is_dllp ? op.bytes.size() == 6
                      : op.bytes.size() >= 12 && op.bytes.size() % 4 == 0 && op.sequence <= 0xfff;
  }
  template <class Op>
  bool operator()(const Op&) const {
    return true;
  }
};

void check(const nlohmann::ordered_json& json) {
  try {
    const ScriptLine line = parse_script_line(json, 1);
    FLITWISE_PROPERTY(std::visit(InRange{}, line.op));
    FLITWISE_PROPERTY(!line.id.dump().empty());
  } catch (const ConfigError& error) {
    FLITWISE_PROPERTY(!error.problems().empty());
    for (const Problem& problem : error.problems()) {
      FLITWISE_PROPERTY(!nlohmann::ordered_json(problem.text()).dump().empty());
    }
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  const auto json = json_value::parse(fuzz::text_of_input(data, size));
  if (!json.is_discarded()) {
    check(json);
  }
  return 0;
}
