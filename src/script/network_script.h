// SPDX-License-Identifier: Apache-2.0
/// The switches of a network, driven by lines of a script: packets go through all of them at once,
/// past queues that are as long as the script says.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "network/next_hops.h"
#include "script/network_line.h"

namespace flitwise {

/// What became of a packet.
enum class NetworkOutcome : std::uint8_t {
  kDelivered,
  kTtl,       ///< it had used up its hops
  kNoRoute,   ///< no port leads there
  kLinkDown,  ///< its link was down, and the switch did not know
  kFull,      ///< the queue had no room
  kRed        ///< without ECT, where others are marked
};
inline constexpr std::size_t kNetworkOutcomes = 6;
const char* name_of(NetworkOutcome outcome);  ///< "delivered", ...

class NetworkScript {
 public:
  using Sink = std::function<void(const Json&)>;
  /// Does what the line says and tells what comes of it, as events. Before the first line that sets
  /// a network up there is one as that line makes it without keys.
  void run(const NetworkLine& line, const Sink& sink);

 private:
  friend struct NetworkActions;

  struct PortCounts {
    std::uint64_t packets = 0, bytes = 0, full = 0, red = 0, ce = 0;
  };
  struct Network {
    explicit Network(const NetworkScriptSetup& wanted);
    const NetworkScriptSetup setup;
    NetworkGraph graph;
    NextHops hops;
    NetworkLinks links;
    std::deque<PathChoice> choices;     ///< by switch
    std::vector<std::uint64_t> queued;  ///< bytes, by port
    std::vector<PortCounts> counts;     ///< by port
    std::uint64_t outcomes[kNetworkOutcomes] = {};
    Random red, ports;
    Time now{};
  };
  /// The way of a packet, and where it ended.
  struct Walk {
    NetworkOutcome outcome = NetworkOutcome::kDelivered;
    std::vector<NodeId> nodes;
    ByteVector frame;
  };
  Walk walk(const NetworkPacket& packet, NodeId from, NodeId to);
  NetworkOutcome leave(PortId port, ByteVector& frame);

  std::unique_ptr<Network> network_;
  Sink sink_;
};

}  // namespace flitwise
