// SPDX-License-Identifier: Apache-2.0
/// TLPs and flits of flit mode that a script encodes and decodes, without a machine.
#pragma once

#include <cstdint>

#include "codec/flit_plan.h"
#include "codec/json_value.h"
#include "script/script_line.h"
#include "system/script_output.h"

namespace flitwise {

class CodecScript {
 public:
  explicit CodecScript(ScriptOutput& output) : output_(output) {}

  void encode(const EncodeTlpOp& op, std::uint32_t token);
  /// What the bytes hold, or an error that names what is wrong with them and at which byte.
  void decode(const DecodeTlpOp& op, std::uint32_t token);
  /// Throws ConfigError where a part of a TLP stands where there can be none; nothing has changed
  /// then.
  void encode(const EncodeFlitOp& op, std::uint32_t token);
  void decode(const DecodeFlitOp& op, std::uint32_t token);

 private:
  void tell(json_value::Json flit, const FlitBytes& bytes, std::uint32_t token);

  ScriptOutput& output_;
  FlitWriter written_;  // the flits of all operations are one direction of one link
};

}  // namespace flitwise
