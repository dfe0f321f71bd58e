// SPDX-License-Identifier: Apache-2.0
// What comes of lines of RDMA, as events.
#include "script/rdma_script.h"

#include <algorithm>
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
  const bool has_reth = info.kind == Kind::kRead ||
                        (info.kind == Kind::kWrite && (info.is_first || packet.names_place));
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
  if (packet.session != kNoSession) {
    event["session"] = packet.session;
  }
  if (packet.has_echo) {
    event["echo_session"] = packet.echo.session;
    event["echo_psn"] = packet.echo.psn;
    event["hold_ns"] = packet.echo.hold_ns;
    event["ce"] = packet.echo.is_marked;
  }
  if (packet.has_sack) {
    event["sack"] = json_value::hex_number(packet.sack);
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
  now_ = Time{};
  sessions_ = line.sessions;
  for (unsigned end = 0; end < 2; ++end) {
    ends_[end] = std::make_unique<End>(line.setup[end]);
    for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      if (line.connects) {
        ends_[end]->end.pair().modify(state);
      }
    }
  }
}

// An ACK keeps the session of the packet that it is for.
bool RdmaScript::send(unsigned end, std::uint16_t session) {
  RdmaWirePacket packet;
  if (!has_room(1 - end) || !ends_[end]->end.next(packet, now_)) {
    return false;
  }
  packet.fields.session = packet.fields.session == kNoSession ? session : packet.fields.session;
  leave(end, std::move(packet));
  return true;
}

void RdmaScript::leave(unsigned end, RdmaWirePacket packet) {
  ends_[end]->end.pair().leaves(packet.fields, now_);
  sink_(event_of(packet.fields, end));
  ends_[1 - end]->arriving.push_back(std::move(packet));
}

// What becomes due on the way is done in its time.
void RdmaScript::wait(Time span) {
  const Time end = now_ + span;
  for (;;) {
    const Time next = std::min(ends_[0]->end.pair().due(), ends_[1]->end.pair().due());
    if (next > end) {
      break;
    }
    now_ = std::max(now_, next);
    for (const auto& one : ends_) {
      if (one->end.pair().due() <= now_) {
        one->end.pair().expire(now_);
      }
    }
  }
  now_ = end;
}

DcqcnRate& RdmaScript::rate_of(unsigned end, std::uint16_t session) {
  End& one = *ends_[end];
  const bool is_divided = one.end.pair().setup().cnp == CnpMode::kSession;
  const std::uint16_t key = is_divided ? session : 0;
  for (SessionRate& known : one.rates) {
    if (known.session == key) {
      return known.rate;
    }
  }
  const DcqcnParameters all;
  one.rates.push_back({key, DcqcnRate(is_divided ? all.of_one(sessions_) : all)});
  return one.rates.back().rate;
}

// A CNP slows down who sent what it is for. [CC-3]
void RdmaScript::take(unsigned end, const RdmaWirePacket& packet) {
  if (!ends_[end]->end.receive(packet, now_)) {
    rate_of(end, packet.fields.session).notified(now_);
  }
  tell_losses(end);
}

void RdmaScript::deliver(unsigned end) {
  std::deque<RdmaWirePacket>& wire = ends_[end]->arriving;
  const RdmaWirePacket packet = std::move(wire.front());
  wire.pop_front();
  take(end, packet);
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
  tell_losses(number);
}

// [LR-5]
void RdmaScript::tell_losses(unsigned number) {
  for (LostPacket lost; ends_[number]->end.pair().next_loss(lost);) {
    Json event = {
        {"event", "rdma_loss"}, {"end", number}, {"psn", lost.psn}, {"cause", name_of(lost.cause)}};
    if (lost.session != kNoSession) {
      event["session"] = lost.session;
    }
    sink_(event);
  }
}

}  // namespace flitwise
