// SPDX-License-Identifier: Apache-2.0
/// Two ends of an RDMA connection and the packets between them, driven by lines of a script.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "rdma/dcqcn.h"
#include "script/rdma_line.h"

namespace flitwise {

class RdmaScript {
 public:
  /// On the way to one end. While there are as many its peer sends nothing.
  static constexpr std::size_t kMostPackets = 16384;
  using Sink = std::function<void(const Json&)>;
  /// Does what the line says and tells what comes of it, as events. Before the first line that sets
  /// two ends up there are two as that line makes them without keys.
  void run(const RdmaLine& line, const Sink& sink);

 private:
  friend struct RdmaActions;

  void set_up(const RdmaLine& line);
  bool has_room(unsigned end) const { return ends_[end]->arriving.size() < kMostPackets; }
  /// False: nothing may go.
  bool send(unsigned end, std::uint16_t session = kNoSession);
  void leave(unsigned end, RdmaWirePacket packet);
  void take(unsigned end, const RdmaWirePacket& packet);
  void wait(Time span);
  DcqcnRate& rate_of(unsigned end, std::uint16_t session);
  void deliver(unsigned end);
  void tell_asynchronous(unsigned end);
  void tell_losses(unsigned end);

  struct SessionRate {
    std::uint16_t session;
    DcqcnRate rate;
  };
  struct End {
    explicit End(const RdmaEndSetup& setup) : end(setup) {}
    RdmaEnd end;
    std::deque<RdmaWirePacket> arriving;
    QpState told = QpState::kReset;
    bool has_told_failure = false;
    std::vector<SessionRate> rates;  // one for a queue pair, or for each session [CC-4]
  };
  std::array<std::unique_ptr<End>, 2> ends_;
  Time now_{};
  unsigned sessions_ = 1;
  Sink sink_;
};

}  // namespace flitwise
