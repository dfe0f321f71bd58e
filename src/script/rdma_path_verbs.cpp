// SPDX-License-Identifier: Apache-2.0
// The verbs of two ends of an RDMA connection that several sessions join, and of time.
#include <algorithm>

#include "script/rdma_actions.h"

namespace flitwise {
namespace {

// The packet at that place comes before all others.
void bring_forward(RdmaScript& script, const RdmaLine& line) {
  std::deque<RdmaWirePacket>& wire = RdmaActions::arriving(script, line);
  if (line.numbers[0] < wire.size()) {
    const auto place = wire.begin() + static_cast<std::ptrdiff_t>(line.numbers[0]);
    std::rotate(wire.begin(), place, place + 1);
  }
}

void mark_congestion(RdmaScript& script, const RdmaLine& line) {
  if (std::deque<RdmaWirePacket>& wire = RdmaActions::arriving(script, line); !wire.empty()) {
    wire.front().fields.is_marked = true;
  }
}

void end_session(RdmaScript& script, const RdmaLine& line) {
  RdmaActions::end(script, line).pair().resend(static_cast<std::uint16_t>(line.numbers[0]));
}

void probe_session(RdmaScript& script, const RdmaLine& line) {
  RdmaWirePacket packet;
  RdmaActions::end(script, line).pair().probe(packet.fields);
  packet.fields.session = static_cast<std::uint16_t>(line.numbers[0]);
  RdmaActions::leave(script, line, packet);
}

void set_gap_time(RdmaScript& script, const RdmaLine& line) {
  constexpr std::uint64_t kLeast = 1000;
  if (line.numbers[0] < kLeast) {
    RdmaActions::refuse(script, line,
                        fmt::format("{} ns seen; expected {} at least", line.numbers[0], kLeast));
    return;
  }
  RdmaActions::end(script, line)
      .pair()
      .set_gap_time(Time::from_ns(static_cast<std::int64_t>(line.numbers[0])));
}

void tell_rate(RdmaScript& script, const RdmaLine& line) {
  DcqcnRate& rate = RdmaActions::rate(script, line);
  RdmaActions::tell(script, {{"event", "rdma_rate"},
                             {"end", line.end},
                             {"session", line.numbers[0]},
                             {"mbps", rate.rate(RdmaActions::now(script)) / 1e6},
                             {"target_mbps", rate.target() / 1e6},
                             {"alpha", rate.alpha()}});
}

}  // namespace

std::vector<RdmaVerb> rdma_path_verbs() {
  using A = RdmaArgument;
  return {{"send_by", {A::kEnd, A::kSession}, RdmaActions::send_by},
          {"bring", {A::kEnd, A::kNumber}, bring_forward},
          {"mark", {A::kEnd}, mark_congestion},
          {"wait", {A::kNumber}, RdmaActions::wait},
          {"end_session", {A::kEnd, A::kSession}, end_session},
          {"probe", {A::kEnd, A::kSession}, probe_session},
          {"gap_timer", {A::kEnd, A::kNumber}, set_gap_time},
          {"rate", {A::kEnd, A::kSession}, tell_rate}};
}

}  // namespace flitwise
