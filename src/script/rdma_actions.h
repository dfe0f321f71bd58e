// SPDX-License-Identifier: Apache-2.0
/// What the verbs of two ends of an RDMA connection do.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <string>

#include "script/rdma_script.h"

namespace flitwise {

struct RdmaActions {
  static RdmaEnd& end(RdmaScript& script, const RdmaLine& line) {
    return script.ends_[line.end]->end;
  }
  static std::deque<RdmaWirePacket>& arriving(RdmaScript& script, const RdmaLine& line) {
    return script.ends_[line.end]->arriving;
  }
  static Time now(const RdmaScript& script) { return script.now_; }
  static void tell(RdmaScript& script, const Json& event) { script.sink_(event); }
  static void refuse(RdmaScript& script, const RdmaLine& line, const std::string& detail) {
    tell(script, {{"event", "error"},
                  {"kind", "rdma_refused"},
                  {"detail", fmt::format("{} of end {}: {}", line.verb->name, line.end, detail)}});
  }
  static void set_up(RdmaScript& script, const RdmaLine& line) { script.set_up(line); }
  static void send(RdmaScript& script, const RdmaLine& line) {
    if (has_room(script, line, 1 - line.end)) {
      script.send(line.end);
    }
  }
  static bool has_room(RdmaScript& script, const RdmaLine& line, unsigned end) {
    const bool has_room = script.has_room(end);
    if (!has_room) {
      refuse(script, line,
             fmt::format("{} packets are on the way to end {}; expected fewer",
                         script.ends_[end]->arriving.size(), end));
    }
    return has_room;
  }
  static void send_by(RdmaScript& script, const RdmaLine& line) {
    script.send(line.end, static_cast<std::uint16_t>(line.numbers[0]));
  }
  static void leave(RdmaScript& script, const RdmaLine& line, const RdmaWirePacket& packet) {
    script.leave(line.end, packet);
  }
  static void wait(RdmaScript& script, const RdmaLine& line) {
    script.wait(Time::from_ns(static_cast<std::int64_t>(line.numbers[0])));
  }
  static DcqcnRate& rate(RdmaScript& script, const RdmaLine& line) {
    return script.rate_of(line.end, static_cast<std::uint16_t>(line.numbers[0]));
  }
  static void take(RdmaScript& script, unsigned end, const RdmaWirePacket& packet) {
    script.take(end, packet);
  }
  static void run(RdmaScript& script, const RdmaLine& line);
  static void deliver(RdmaScript& script, const RdmaLine& line) {
    if (!arriving(script, line).empty()) {
      script.deliver(line.end);
    }
  }
};

}  // namespace flitwise
