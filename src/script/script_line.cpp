// SPDX-License-Identifier: Apache-2.0
// Script lines from JSON.
#include <algorithm>

#include "common/printable.h"
#include "common/problems.h"
#include "common/ranges.h"
#include "script/op_reader.h"

namespace flitwise {
namespace {

void read_op(OpReader& /*in*/, StartOp& /*op*/) {}

void read_op(OpReader& in, PioOp& op) {
  in.pio_line(in.need("line"), op.line);
}

void read_op(OpReader& in, RdmaOp& op) {
  in.rdma_line(in.need("line"), op.line);
}

void read_op(OpReader& in, HcaOp& op) {
  in.hca_line(in.need("line"), op.line);
}

void read_op(OpReader& in, SrdmaOp& op) {
  in.srdma_line(in.need("line"), op.line);
}

template <class Op>
void made(OpReader& in, ScriptLine& line) {
  read_op(in, line.op.emplace<Op>());
}

template <class Op>
void made_write(OpReader& in, ScriptLine& line) {
  Op& op = line.op.emplace<Op>();
  op.is_write = true;
  read_op(in, op);
}

// The row of the operation that the line names.
const ScriptVerb& verb_of(const Json& object, int line) {
  const std::vector<ScriptVerb>& verbs = script_verbs();
  const bool is_given = object.contains("op") && object["op"].is_string();
  const std::string op = is_given ? object["op"].get<std::string>() : "";
  const auto verb = std::find_if(verbs.begin(), verbs.end(),
                                 [&](const ScriptVerb& one) { return is_given && op == one.name; });
  if (verb != verbs.end()) {
    return *verb;
  }
  const auto names = mapped(verbs, &ScriptVerb::name);
  throw ConfigError({{"script", line, 1, "op",
                      (is_given ? "unknown op '" + printable(shortened(op)) + "'" : "no op") +
                          "; expected " + config::alternatives(names) +
                          (is_given ? config::nearest_hint(op, names, "op") : "")}});
}

}  // namespace

const std::vector<ScriptVerb>& script_verbs() {
  static const std::vector<ScriptVerb> kVerbs = {
      {"iommu_read", "Read a register of the translation agent.", made<IommuOp>},
      {"iommu_write", "Write a register of the translation agent.", made_write<IommuOp>},
      {"translate", "Turn translation on, with the tables that map makes, or off.",
       made<TranslateOp>},
      {"invalidate", "Put a command on the invalidation queue of the translation agent.",
       made<InvalidateOp>},
      {"fault_record", "Look at one fault record of the translation agent.", made<FaultRecordOp>},
      {"poke", "Write host memory, untimed.", made<PokeOp>},
      {"peek", "Read host memory, untimed.", made<PeekOp>},
      {"tlp", "Send a raw TLP from the device side.", made<TlpOp>},
      {"dma", "Let a device read or write, and wait for the outcome.", made<DmaOp>},
      {"mmio_read", "Let host software read from a device, and wait for the bytes.", made<MmioOp>},
      {"mmio_write", "Let host software write to a device; posted.", made_write<MmioOp>},
      {"cfg_read", "Let host software read a configuration register.", made<CfgOp>},
      {"cfg_write", "Let host software write a configuration register.", made_write<CfgOp>},
      {"fault", "Corrupt, drop, duplicate or delay chosen units on a wire.", made<FaultOp>},
      {"dllp", "Put a DLLP on a wire that no rule asked for.", made<DllpOp>},
      {"cxl",
       "Send a message of CXL.cache or CXL.mem from either end of a link, whatever its rules.",
       made<CxlOp>},
      {"dhi", "Let a device send ALLOC or DEALLOC, whatever its table says.", made<DhiOp>},
      {"handle", "Look at one entry of a handle table.", made<HandleOp>},
      {"result", "Look at one figure of the run so far.", made<ResultOp>},
      {"start", "Let the workload of the config begin.", made<StartOp>},
      {"run", "Let simulated time pass, for a span or until nothing is left to do.", made<RunOp>},
      {"map", "Build page tables for one mapping, and tell where their entries are.", made<MapOp>},
      {"permit", "Permit translated requests of a domain physical pages, with Secure ATS.",
       made<PermitOp>},
      {"poke_entry", "Change one entry of the tables that map has made.", made<PokeEntryOp>},
      {"reset", "Let host software reset a function or all below a port, or take its link down.",
       made<ResetOp>},
      {"frame", "Frame a TLP or DLLP as the link does, without a machine.", made<FrameOp>},
      {"unframe", "Find a TLP or DLLP in a frame, or say why there is none.", made<UnframeOp>},
      {"encode_tlp", "Make the bytes of a TLP, without a machine.", made<EncodeTlpOp>},
      {"decode_tlp", "Take bytes as a TLP, or say why they are none.", made<DecodeTlpOp>},
      {"encode_flit", "Make flits of flit mode, without a machine.", made<EncodeFlitOp>},
      {"decode_flit", "Take bytes as flits of flit mode, or say why they are none.",
       made<DecodeFlitOp>},
      {"encode_cxl", "Make flits of CXL.cache and CXL.mem, without a machine.", made<EncodeCxlOp>},
      {"decode_cxl", "Take bytes as a flit of CXL.cache and CXL.mem, or say why they are none.",
       made<DecodeCxlOp>},
      {"decode_roce", "Take bytes as a RoCEv2 frame, or say why they are none.",
       made<DecodeRoceOp>},
      {"pio", "Drive PIO send memory by one line, such as [fill, 3, 1, 0, false].", made<PioOp>},
      {"rdma", "Drive two ends of an RDMA connection by one line, such as [deliver, 1].",
       made<RdmaOp>},
      {"hca",
       "Drive the QP-state cache and pre-translation of an adapter by one line, such as [scan].",
       made<HcaOp>},
      {"srdma", "Drive two ends of session groups by one line, such as [deliver, 1].",
       made<SrdmaOp>}};
  return kVerbs;
}

ScriptLine parse_script_line(const Json& object, int line) {
  ScriptLine result;
  result.id = object.contains("id") ? object["id"] : Json();
  const ScriptVerb& verb = verb_of(object, line);
  OpReader in(object, line);
  verb.read(in, result);
  in.finish();
  return result;
}

}  // namespace flitwise
