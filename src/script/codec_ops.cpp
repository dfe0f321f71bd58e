// SPDX-License-Identifier: Apache-2.0
// Operations on TLPs and flits.
#include "script/codec_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "tlp/raw_packet.h"

namespace flitwise {
namespace {

TlpForm read_form(OpReader& in) {
  bool is_flit_mode = false;
  in.flag("flit_mode", is_flit_mode);
  return is_flit_mode ? TlpForm::kFlit : TlpForm::kNonFlit;
}

bool read_checks(OpReader& in) {
  bool checks = true;
  in.flag("check", checks);
  return checks;
}

EncodeTlpOp read_encode_tlp(OpReader& in) {
  EncodeTlpOp op;
  op.form = read_form(in);
  const bool checks = read_checks(in);
  in.rest([&](const json_value::Json& fields) {
    const TlpDocument document = tlp_from_json(fields, {"script", 0, {}}, op.form);
    if (checks) {
      check_rules(document.tlp, {"script", 0, {}});
    }
    op.bytes = bytes_of(document);
  });
  return op;
}

DecodeTlpOp read_decode_tlp(OpReader& in) {
  DecodeTlpOp op;
  op.form = read_form(in);
  op.checks = read_checks(in);
  in.need("hex");
  in.hex("hex", op.bytes);
  if (op.bytes.size() > kMostTlpBytes) {
    in.complain("hex", fmt::format("too long; expected up to {} bytes", kMostTlpBytes));
  }
  return op;
}

EncodeFlitOp read_encode_flit(OpReader& in) {
  EncodeFlitOp op;
  in.rest([&](const json_value::Json& flit) {
    op.plan = flit_plan_from_json(flit, {"script", 0, {}});
  });
  return op;
}

DecodeFlitOp read_decode_flit(OpReader& in) {
  DecodeFlitOp op;
  op.options.checks = read_checks(in);
  in.number("rest_dw", 0, kMostRestDws, op.options.rest_dw);
  std::vector<std::uint8_t> bytes;
  in.need("hex");
  const bool is_hex = in.hex("hex", bytes);
  const bool is_whole = !bytes.empty() && bytes.size() % flit::kBytes == 0;
  if (is_hex && (!is_whole || bytes.size() > kMostScriptBytes)) {
    in.complain("hex", fmt::format("{} bytes seen; expected flits of {} bytes, up to 1 MiB",
                                   bytes.size(), flit::kBytes));
  }
  op.flits.resize(bytes.size() / flit::kBytes);
  for (std::size_t i = 0; i < op.flits.size(); ++i) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * flit::kBytes), flit::kBytes,
                op.flits[i].begin());
  }
  return op;
}

}  // namespace

bool read_codec_op(const std::string& op, OpReader& in, ScriptLine& line) {
  if (op == "encode_tlp") {
    line.op = read_encode_tlp(in);
  } else if (op == "decode_tlp") {
    line.op = read_decode_tlp(in);
  } else if (op == "encode_flit") {
    line.op = read_encode_flit(in);
  } else if (op == "decode_flit") {
    line.op = read_decode_flit(in);
  } else {
    return false;
  }
  return true;
}

}  // namespace flitwise
