// SPDX-License-Identifier: Apache-2.0
// What comes of lines of RDMA, as events.
#include "script/rdma_script.h"

#include <utility>

namespace flitwise {
namespace {

// A packet by the fields that its opcode has.
Json event_of(const RdmaPacket& packet, unsigned end) {
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  using Kind = RdmaPacketKind;
  Json event = {{"event", "rdma_packet"},        {"end", end},
                {"opcode", info.name},           {"psn", packet.psn},
                {"bytes", packet.payload_bytes}, {"pad", packet.pad},
                {"ack_req", packet.asks_for_ack}};
  const bool has_reth = info.kind == Kind::kRead || (info.kind == Kind::kWrite && info.is_first);
  if (has_reth || info.kind == Kind::kAtomic) {
    event["va"] = json_value::hex_number(packet.address);
    event["rkey"] = packet.key;
  }
  if (has_reth) {
    event["length"] = packet.length;
  }
  if (info.has_immediate || info.invalidates) {
    event["imm"] = packet.immediate;
  }
  if (info.kind == Kind::kAck || info.kind == Kind::kAtomicAck ||
      (info.kind == Kind::kReadResponse && (info.is_first || info.is_last))) {
    event["syndrome"] = json_value::hex_number(packet.syndrome);
    event["msn"] = packet.messages;
  }
  if (info.kind == Kind::kAtomicAck) {
    event["original"] = json_value::hex_number(packet.original);
  }
  return event;
}

}  // namespace

void RdmaScript::run(const RdmaLine& line, const Sink& sink) {
  sink_ = sink;
  if (!ends_[0]) {
    set_up(parse_rdma_line({"rdma", Json::object()}, 0));
  }
  line.verb->apply(*this, line);
  tell_asynchronous(0);
  tell_asynchronous(1);
}

void RdmaScript::set_up(const RdmaLine& line) {
  for (unsigned end = 0; end < 2; ++end) {
    ends_[end] = std::make_unique<End>(line.setup[end]);
    for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      if (line.connects) {
        ends_[end]->end.pair().modify(state);
      }
    }
  }
}

bool RdmaScript::send(unsigned end) {
  RdmaWirePacket packet;
  if (!ends_[end]->end.next(packet)) {
    return false;
  }
  sink_(event_of(packet.fields, end));
  ends_[1 - end]->arriving.push_back(std::move(packet));
  return true;
}

void RdmaScript::deliver(unsigned end) {
  std::deque<RdmaWirePacket>& wire = ends_[end]->arriving;
  const RdmaWirePacket packet = std::move(wire.front());
  wire.pop_front();
  ends_[end]->end.receive(packet);
}

// What software is told without asking, each once.
void RdmaScript::tell_asynchronous(unsigned number) {
  End& one = *ends_[number];
  const auto tell = [&](const char* kind) {
    sink_({{"event", "rdma_event"}, {"end", number}, {"kind", kind}});
  };
  if (one.end.completions().has_failed() && !std::exchange(one.has_told_failure, true)) {
    tell("cq_error");
  }
  const QpState state = one.end.pair().state();
  if (state == QpState::kError && one.told != state) {
    tell("qp_error");
  }
  one.told = state;
  if (one.end.completions().take_event()) {
    tell("cq_event");
  }
  if (one.end.buffers().take_event()) {
    tell("srq_limit");
  }
}

}  // namespace flitwise
