// SPDX-License-Identifier: Apache-2.0
// Operations on flits of CXL.cache and CXL.mem.
#include "script/cxl_ops.h"

namespace flitwise {
namespace {

EncodeCxlOp read_encode(OpReader& in) {
  EncodeCxlOp op;
  in.rest([&](const json_value::Json& flit) {
    cxl_flit_kind_of(flit, {});
    op.flit = flit;
  });
  return op;
}

DecodeCxlOp read_decode(OpReader& in) {
  DecodeCxlOp op;
  in.need("hex");
  in.hex("hex", op.bytes);
  if (op.bytes.size() > kCxlBytes256) {
    in.complain("hex", "too long; expected one flit of 68 or 256 bytes");
  }
  in.rest([&](const json_value::Json& kind) {
    cxl_kind_from_json(kind, {});
    op.kind = cxl_flit_kind_of(kind, {});
  });
  return op;
}

}  // namespace

bool read_cxl_op(const std::string& op, OpReader& in, ScriptLine& line) {
  if (op == "encode_cxl") {
    line.op = read_encode(in);
  } else if (op == "decode_cxl") {
    line.op = read_decode(in);
  } else {
    return false;
  }
  return true;
}

}  // namespace flitwise
