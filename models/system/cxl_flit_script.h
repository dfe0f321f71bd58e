// SPDX-License-Identifier: Apache-2.0
/// Flits of CXL.cache and CXL.mem that a script encodes and decodes, without a machine. What a flit
/// may hold depends on those before it: what is encoded and what is decoded are streams of their
/// own, for each kind of flit.
#pragma once

#include <cstdint>

#include "codec/cxl_flit_json.h"
#include "common/byte_vector.h"
#include "script/script_line.h"
#include "system/script_output.h"

namespace flitwise {

class CxlFlitScript {
 public:
  explicit CxlFlitScript(ScriptOutput& output) : output_(output) {}

  /// Throws ConfigError where it is no flit, or none that may come now; nothing has changed then.
  void encode(const EncodeCxlOp& op, std::uint32_t token);
  /// What the flit holds, or an error that names what is wrong with it and at which byte.
  void decode(const DecodeCxlOp& op, std::uint32_t token);

 private:
  void tell(CxlFlitStream& stream, const CxlFlitKind& kind, const ByteVector& bytes,
            std::uint32_t token);

  ScriptOutput& output_;
  CxlFlitStream written_, shown_, read_;
};

}  // namespace flitwise
