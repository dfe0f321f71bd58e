// SPDX-License-Identifier: Apache-2.0
// Script lines from JSON.
#include "script/script_line.h"

#include <algorithm>
#include <utility>

#include "common/page.h"
#include "config/problems.h"
#include "script/codec_ops.h"
#include "script/cxl_ops.h"
#include "script/framing_ops.h"
#include "script/model_ops.h"
#include "script/op_reader.h"
#include "script/table_ops.h"
#include "tlp/raw_packet.h"

namespace flitwise {
namespace {

using json_value::Json;

constexpr std::uint64_t kMostDmaBytes = std::uint64_t{1} << 31;
constexpr std::uint32_t kTranslationBytes = 8;  // one translation

/// The bytes of a write: a little-endian number of a width, or hex.
std::vector<std::uint8_t> read_bytes(OpReader& in) {
  std::vector<std::uint8_t> bytes;
  in.hex("hex", bytes);
  static constexpr std::pair<const char*, unsigned> kWidths[] = {
      {"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};
  unsigned given = in.has("hex") ? 1 : 0;
  for (const auto& [key, width] : kWidths) {
    if (!in.has(key)) {
      continue;
    }
    ++given;
    std::uint64_t value = 0;
    in.number(key, 0, width == 8 ? kAnyNumber : (std::uint64_t{1} << (8 * width)) - 1, value);
    for (unsigned i = 0; i < width; ++i) {
      bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
  if (given != 1) {
    in.complain("", "expected one of u8, u16, u32, u64 (little-endian) or hex");
  } else if (bytes.size() > kMostScriptBytes) {
    in.complain("hex", "too long; expected up to 1 MiB");
  }
  return bytes;
}

PokeOp read_poke(OpReader& in) {
  PokeOp op;
  in.address(op.address);
  op.bytes = read_bytes(in);
  return op;
}

PeekOp read_peek(OpReader& in) {
  PeekOp op;
  in.address(op.address);
  in.number("bytes", 1, kMostScriptBytes, op.bytes);
  return op;
}

TlpOp read_tlp(OpReader& in) {
  TlpOp op;
  in.text("port", op.port);
  in.hex("hex", op.bytes);
  in.tlp("tlp", op.bytes);
  if (in.has("hex") == in.has("tlp")) {
    in.complain("", "expected either hex or tlp, the fields of a packet");
  }
  if (op.bytes.size() > kMostTlpBytes) {
    in.complain("hex", "too long for a TLP; expected up to 8160 bytes");
  }
  return op;
}

// The bytes of a write come with it, and say how many there are.
void check_data(OpReader& in, DmaOp& op) {
  const bool is_translation = op.at == AddressType::kTranslationRequest;
  if (op.is_write && is_translation) {
    in.complain("kind", "a write cannot ask for a translation; expected read");
  }
  if (op.is_write) {
    in.need("hex");
    if (in.has("bytes") && op.bytes != op.data.size()) {
      in.complain("bytes", "differs from the number of bytes in hex");
    }
    op.bytes = static_cast<std::uint32_t>(op.data.size());
  } else if (in.has("hex") && !op.data.empty()) {
    in.complain("hex", "a read brings no bytes along; expected bytes");
  } else if (!in.has("bytes") && !is_translation) {
    in.need("bytes");
  }
  if (is_translation && !in.has("bytes")) {
    op.bytes = kTranslationBytes;
  }
}

DmaOp read_dma(OpReader& in) {
  DmaOp op;
  in.text("port", op.port);
  in.requester_id(op.requester_id);
  in.pasid(op.pasid);
  op.at = static_cast<AddressType>(
      in.word("at", {"untranslated", "translation_request", "translated"}));
  in.need("kind");
  op.is_write = in.word("kind", {"read", "write"}) == 1;
  in.address(op.address);
  in.number("bytes", 0, kMostDmaBytes, op.bytes);
  in.hex("hex", op.data);
  in.flag("no_write", op.no_write);
  in.flag("execute", op.execute);
  in.flag("privileged", op.privileged);
  check_data(in, op);
  return op;
}

MmioOp read_mmio(OpReader& in, bool is_write) {
  MmioOp op;
  op.is_write = is_write;
  in.address(op.address);
  if (is_write) {
    op.data = read_bytes(in);
    return op;
  }
  in.number("bytes", 1, kPageBytes, op.bytes);
  if (op.address % kPageBytes + op.bytes > kPageBytes) {
    in.complain("bytes", "crosses a 4 KiB boundary; expected one read a page");
  }
  return op;
}

CfgOp read_cfg(OpReader& in, bool is_write) {
  CfgOp op;
  op.is_write = is_write;
  in.need("bdf");
  in.bdf("bdf", op.target);
  in.need("offset");
  in.number("offset", 0, kPageBytes - 1, op.offset);
  in.number("bytes", 1, 4, op.bytes);
  if (op.bytes == 3 || op.offset % op.bytes != 0) {
    in.complain("bytes", "expected 1, 2 or 4 that divide offset");
  }
  if (is_write) {
    in.need("value");
    in.number("value", 0, (std::uint64_t{1} << (8 * op.bytes)) - 1, op.value);
  }
  return op;
}

RunOp read_run(OpReader& in) {
  RunOp op;
  in.time("for", op.span);
  in.word("until", {"idle"});
  if (in.has("for") == in.has("until")) {
    in.complain("", "expected either for or until");
  }
  return op;
}

const std::vector<std::string>& op_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const ScriptVerb& verb : script_verbs()) {
      names.emplace_back(verb.name);
    }
    return names;
  }();
  return kNames;
}

std::string op_of(const Json& object, int line) {
  const auto fail = [&](const std::string& message) -> std::string {
    throw ConfigError({{"script", line, 1, "op", message}});
  };
  if (!object.contains("op") || !object["op"].is_string()) {
    return fail("no op; expected " + config::alternatives(op_names()));
  }
  std::string op = object["op"].get<std::string>();
  if (std::find(op_names().begin(), op_names().end(), op) == op_names().end()) {
    return fail("unknown op '" + op + "'; expected " + config::alternatives(op_names()) +
                config::nearest_hint(op, op_names(), "op"));
  }
  return op;
}

}  // namespace

const std::vector<ScriptVerb>& script_verbs() {
  static const std::vector<ScriptVerb> kVerbs = {
      {"iommu_read", "Read a register of the translation agent."},
      {"iommu_write", "Write a register of the translation agent."},
      {"poke", "Write host memory, untimed."},
      {"peek", "Read host memory, untimed."},
      {"tlp", "Send a raw TLP from the device side."},
      {"dma", "Let a device read or write, and wait for the outcome."},
      {"mmio_read", "Let host software read from a device, and wait for the bytes."},
      {"mmio_write", "Let host software write to a device; posted."},
      {"cfg_read", "Let host software read a configuration register."},
      {"cfg_write", "Let host software write a configuration register."},
      {"fault", "Corrupt, drop, duplicate or delay chosen units on a wire."},
      {"dllp", "Put a DLLP on a wire that no rule asked for."},
      {"cxl",
       "Send a message of CXL.cache or CXL.mem from either end of a link, whatever its rules."},
      {"dhi", "Let a device send ALLOC or DEALLOC, whatever its table says."},
      {"handle", "Look at one entry of a handle table."},
      {"result", "Look at one figure of the run so far."},
      {"start", "Let the workload of the config begin."},
      {"run", "Let simulated time pass, for a span or until nothing is left to do."},
      {"map", "Build page tables for one mapping, and tell where their entries are."},
      {"permit", "Permit translated requests of a domain physical pages, with Secure ATS."},
      {"poke_entry", "Change one entry of the tables that map has made."},
      {"reset", "Let host software reset a function or all below a port, or take its link down."},
      {"frame", "Frame a TLP or DLLP as the link does, without a machine."},
      {"unframe", "Find a TLP or DLLP in a frame, or say why there is none."},
      {"encode_tlp", "Make the bytes of a TLP, without a machine."},
      {"decode_tlp", "Take bytes as a TLP, or say why they are none."},
      {"encode_flit", "Make flits of flit mode, without a machine."},
      {"decode_flit", "Take bytes as flits of flit mode, or say why they are none."},
      {"encode_cxl", "Make flits of CXL.cache and CXL.mem, without a machine."},
      {"decode_cxl", "Take bytes as a flit of CXL.cache and CXL.mem, or say why they are none."}};
  return kVerbs;
}

ScriptLine parse_script_line(const Json& object, int line) {
  ScriptLine result;
  result.id = object.contains("id") ? object["id"] : Json();
  const std::string op = op_of(object, line);
  OpReader in(object, line);
  if (op == "poke") {
    result.op = read_poke(in);
  } else if (op == "peek") {
    result.op = read_peek(in);
  } else if (op == "tlp") {
    result.op = read_tlp(in);
  } else if (op == "dma") {
    result.op = read_dma(in);
  } else if (op == "run") {
    result.op = read_run(in);
  } else if (op == "mmio_read" || op == "mmio_write") {
    result.op = read_mmio(in, op == "mmio_write");
  } else if (op == "cfg_read" || op == "cfg_write") {
    result.op = read_cfg(in, op == "cfg_write");
  } else if (!read_model_op(op, in, result) && !read_table_op(op, in, result) &&
             !read_framing_op(op, in, result) && !read_codec_op(op, in, result)) {
    read_cxl_op(op, in, result);
  }
  in.finish();
  return result;
}

}  // namespace flitwise
