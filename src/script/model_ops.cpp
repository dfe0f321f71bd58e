// SPDX-License-Identifier: Apache-2.0
// Operations on the models.
#include "script/model_ops.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMost16 = std::numeric_limits<std::uint16_t>::max();

void read_wire(OpReader& in, WireOp& wire) {
  in.text("link", wire.link);
  in.need("direction");
  wire.is_up = in.word("direction", {"down", "up"}) == 1;
}

FaultOp read_fault(OpReader& in) {
  FaultOp op;
  read_wire(in, op.wire);
  in.need("do");
  op.fault.action =
      static_cast<WireFault::Action>(in.word("do", {"corrupt", "drop", "duplicate", "delay"}));
  const std::vector<std::string> words = unit_filter_words();
  op.fault.unit = *read_unit_filter(words[in.word("unit", words)]);
  in.number("nth", 1, kMost32, op.fault.nth);
  in.number("count", 1, kMost32, op.fault.count);
  in.time("by", op.fault.by);
  in.flag("may_miss", op.fault.may_miss);
  if (op.fault.action == WireFault::Action::kDelay) {
    in.need("by");
  }
  return op;
}

DllpOp read_dllp(OpReader& in) {
  DllpOp op;
  read_wire(in, op.wire);
  in.need("dllp");
  in.dllp("dllp", op.dllp);
  return op;
}

DhiOp read_dhi(OpReader& in) {
  DhiOp op;
  in.text("port", op.port);
  in.requester_id(op.requester_id);
  in.need("send");
  op.is_alloc = in.word("send", {"alloc", "dealloc"}) == 0;
  in.number("dhi", 0, kMost16, op.dhi);
  in.number("upper", 0, kMost16, op.upper);
  op.scope = static_cast<DeallocScope>(in.word("scope", {"one", "range", "function", "all"}));
  in.bdf("bdf", op.bdf);
  in.pasid(op.pasid);
  in.flag("trusted", op.is_trusted);
  in.number("capabilities", 0, kMost16, op.capabilities);
  std::uint8_t epoch = 0;
  in.number("epoch", 0, 255, epoch);
  op.epoch = in.has("epoch") ? std::optional(epoch) : std::nullopt;
  return op;
}

CxlOp read_cxl(OpReader& in) {
  CxlOp op;
  in.text("port", op.port);
  in.need("message");
  in.cxl_message("message", op.message);
  return op;
}

HandleOp read_handle(OpReader& in) {
  HandleOp op;
  in.text("port", op.port);
  in.need("end");
  op.is_host = in.word("end", {"device", "host"}) == 1;
  in.need("dhi");
  in.number("dhi", 0, kMost16, op.dhi);
  return op;
}

ResultOp read_result(OpReader& in) {
  ResultOp op;
  in.need("path");
  in.text("path", op.path);
  return op;
}

ResetOp read_reset(OpReader& in) {
  ResetOp op;
  in.need("kind");
  op.kind = static_cast<ResetOp::Kind>(in.word("kind", {"hot", "flr", "link_down"}));
  in.need("bdf");
  in.bdf("bdf", op.target);
  return op;
}

IommuOp read_iommu(OpReader& in, bool is_write) {
  constexpr std::uint64_t kLastOffset = 0xffc;
  IommuOp op;
  op.is_write = is_write;
  in.need("offset");
  in.number("offset", 0, kLastOffset, op.offset);
  if (op.offset % 4 != 0) {
    in.complain("offset", "is no multiple of 4; expected the offset of a register");
  }
  if (is_write) {
    in.need("value");
    in.number("value", 0, kAnyNumber, op.value);
  }
  return op;
}

}  // namespace

bool read_model_op(const std::string& op, OpReader& in, ScriptLine& line) {
  if (op == "fault") {
    line.op = read_fault(in);
  } else if (op == "dllp") {
    line.op = read_dllp(in);
  } else if (op == "dhi") {
    line.op = read_dhi(in);
  } else if (op == "cxl") {
    line.op = read_cxl(in);
  } else if (op == "handle") {
    line.op = read_handle(in);
  } else if (op == "result") {
    line.op = read_result(in);
  } else if (op == "start") {
    line.op = StartOp{};
  } else if (op == "reset") {
    line.op = read_reset(in);
  } else if (op == "iommu_read" || op == "iommu_write") {
    line.op = read_iommu(in, op == "iommu_write");
  } else {
    return false;
  }
  return true;
}

}  // namespace flitwise
