// SPDX-License-Identifier: Apache-2.0
/// Operations of a script on bytes alone.
#pragma once

#include <cstdint>

#include "codec/cxl_flit_json.h"
#include "codec/flit_json.h"
#include "codec/json_value.h"
#include "common/byte_vector.h"
#include "script/script_line.h"
#include "script/script_output.h"

namespace flitwise {

/// TLPs, frames and flits that a script encodes and decodes, without a machine. What a flit may
/// hold depends on those before it: what is encoded is one direction of one link, and of CXL.cache
/// and CXL.mem what is encoded and what is decoded are streams of their own, for each kind of flit.
class CodecScript {
 public:
  explicit CodecScript(ScriptOutput& output) : output_(output) {}

  /// What the bytes are or hold, or an error that names what is wrong with them and at which byte.
  void run(const FrameOp& op, std::uint32_t token);
  void run(const UnframeOp& op, std::uint32_t token);
  void run(const EncodeTlpOp& op, std::uint32_t token);
  void run(const DecodeTlpOp& op, std::uint32_t token);
  /// Throws ConfigError where it is no flit, or none that may come now; nothing has changed then.
  void run(const EncodeFlitOp& op, std::uint32_t token);
  void run(const EncodeCxlOp& op, std::uint32_t token);
  void run(const DecodeFlitOp& op, std::uint32_t token);
  void run(const DecodeCxlOp& op, std::uint32_t token);
  void run(const DecodeRoceOp& op, std::uint32_t token);

 private:
  void tell(Json flit, const FlitBytes& bytes, std::uint32_t token);
  void tell_cxl(CxlFlitStream& stream, const CxlFlitKind& kind, const ByteVector& bytes,
                std::uint32_t token);

  ScriptOutput& output_;
  FlitWriter written_;
  CxlFlitStream cxl_written_, cxl_shown_, cxl_read_;
};

}  // namespace flitwise
