// SPDX-License-Identifier: Apache-2.0
// Operations that need no machine: TLPs, flits and frames as bytes.
#include <fmt/format.h>

#include <algorithm>

#include "script/op_reader.h"
#include "tlp/dllp_codec.h"
#include "tlp/tlp_codec.h"

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

constexpr std::size_t kMostRoceBytes = 9216;  // a jumbo frame
constexpr unsigned kLastGeneration = 5;
constexpr unsigned kFirstWithTokens = 3;
constexpr std::uint16_t kMostSequence = 0xfff;
constexpr std::size_t kLeastTlpBytes = 12;

// [LNK-5.4] [LNK-5.5]
Framing read_generation(OpReader& in) {
  unsigned generation = 1;
  in.number(in.need("generation"), 1, kLastGeneration, generation);
  return generation < kFirstWithTokens ? Framing::kGen1 : Framing::kGen3;
}

// Bytes that cannot be read stand as those of some TLP.
void read_framed_tlp(OpReader& in, FrameOp& op) {
  op.bytes.assign(kLeastTlpBytes, 0);
  in.hex("hex", op.bytes);
  in.tlp("tlp", op.bytes);
  const std::size_t size = op.bytes.size();
  if (size < kLeastTlpBytes || size > kMostTlpBytes || size % 4 != 0) {
    in.complain(
        "hex", std::to_string(size) + " bytes seen; expected a TLP in whole DWs, 12 to 8160 bytes");
  }
}

void read_framed_dllp(OpReader& in, FrameOp& op) {
  Dllp dllp;
  in.dllp("dllp", dllp);
  op.is_dllp = in.has("dllp");
  if (!op.is_dllp) {
    return;
  }
  const std::array<std::uint8_t, kDllpBytes> bytes = encode(dllp);
  op.bytes.assign(bytes.begin(), bytes.end());
  for (const char* key : {"seq", "nullified"}) {
    if (in.has(key)) {
      in.complain(key, "a DLLP has none; expected it beside tlp or hex alone");
    }
  }
}

}  // namespace

void read_op(OpReader& in, EncodeTlpOp& op) {
  op.form = read_form(in);
  const bool checks = read_checks(in);
  in.rest([&](const Json& fields) {
    const TlpDocument document = tlp_from_json(fields, kScript, op.form);
    if (checks) {
      check_rules(document.tlp, kScript);
    }
    op.bytes = bytes_of(document);
  });
}

void read_op(OpReader& in, DecodeTlpOp& op) {
  op.form = read_form(in);
  op.checks = read_checks(in);
  in.hex(in.need("hex"), op.bytes);
  if (op.bytes.size() > kMostTlpBytes) {
    in.complain("hex", fmt::format("too long; expected up to {} bytes", kMostTlpBytes));
  }
}

void read_op(OpReader& in, EncodeFlitOp& op) {
  in.rest([&](const Json& flit) { op.plan = flit_plan_from_json(flit, kScript); });
}

void read_op(OpReader& in, DecodeFlitOp& op) {
  op.options.checks = read_checks(in);
  in.number("rest_dw", 0, kMostRestDws, op.options.rest_dw);
  std::vector<std::uint8_t> bytes;
  const bool is_hex = in.hex(in.need("hex"), bytes);
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
}

void read_op(OpReader& in, EncodeCxlOp& op) {
  in.rest([&](const Json& flit) {
    cxl_flit_kind_of(flit, {});
    op.flit = flit;
  });
}

void read_op(OpReader& in, DecodeCxlOp& op) {
  in.hex(in.need("hex"), op.bytes);
  if (op.bytes.size() > kCxlBytes256) {
    in.complain("hex", "too long; expected one flit of 68 or 256 bytes");
  }
  in.rest([&](const Json& kind) {
    cxl_kind_from_json(kind, {});
    op.kind = cxl_flit_kind_of(kind, {});
  });
}

void read_op(OpReader& in, DecodeRoceOp& op) {
  op.checks = read_checks(in);
  in.hex(in.need("hex"), op.bytes);
  if (op.bytes.size() > kMostRoceBytes) {
    in.complain("hex", fmt::format("too long; expected up to {} bytes", kMostRoceBytes));
  }
}

void read_op(OpReader& in, FrameOp& op) {
  op.framing = read_generation(in);
  in.number("seq", 0, kMostSequence, op.sequence);
  in.flag("nullified", op.is_nullified);
  read_framed_tlp(in, op);
  read_framed_dllp(in, op);
  if (in.has("hex") + in.has("tlp") + in.has("dllp") != 1) {
    in.complain("", "expected one of tlp (the fields of a TLP), hex (its bytes) and dllp");
  }
}

void read_op(OpReader& in, UnframeOp& op) {
  op.framing = read_generation(in);
  op.is_dllp = in.word(in.need("unit"), {"tlp", "dllp"}) == 1;
  in.hex(in.need("hex"), op.bytes);
  if (op.bytes.size() > kMostScriptBytes) {
    in.complain("hex", "too long; expected up to 1 MiB");
  }
}

}  // namespace flitwise
