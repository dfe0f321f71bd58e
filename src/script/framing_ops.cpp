// SPDX-License-Identifier: Apache-2.0
// Operations on frames.
#include "script/framing_ops.h"

#include "tlp/dllp_codec.h"
#include "tlp/raw_packet.h"

namespace flitwise {
namespace {

constexpr unsigned kLastGeneration = 5;
constexpr unsigned kFirstWithTokens = 3;
constexpr std::uint16_t kMostSequence = 0xfff;
constexpr std::size_t kLeastTlpBytes = 12;

// [LNK-5.4] [LNK-5.5]
Framing read_generation(OpReader& in) {
  in.need("generation");
  unsigned generation = 1;
  in.number("generation", 1, kLastGeneration, generation);
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

FrameOp read_frame(OpReader& in) {
  FrameOp op;
  op.framing = read_generation(in);
  in.number("seq", 0, kMostSequence, op.sequence);
  in.flag("nullified", op.is_nullified);
  read_framed_tlp(in, op);
  read_framed_dllp(in, op);
  if (in.has("hex") + in.has("tlp") + in.has("dllp") != 1) {
    in.complain("", "expected one of tlp (the fields of a TLP), hex (its bytes) and dllp");
  }
  return op;
}

UnframeOp read_unframe(OpReader& in) {
  UnframeOp op;
  op.framing = read_generation(in);
  in.need("unit");
  op.is_dllp = in.word("unit", {"tlp", "dllp"}) == 1;
  in.need("hex");
  in.hex("hex", op.bytes);
  if (op.bytes.size() > kMostScriptBytes) {
    in.complain("hex", "too long; expected up to 1 MiB");
  }
  return op;
}

}  // namespace

bool read_framing_op(const std::string& op, OpReader& in, ScriptLine& line) {
  if (op == "frame") {
    line.op = read_frame(in);
  } else if (op == "unframe") {
    line.op = read_unframe(in);
  } else {
    return false;
  }
  return true;
}

}  // namespace flitwise
