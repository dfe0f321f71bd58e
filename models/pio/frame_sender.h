// SPDX-License-Identifier: Apache-2.0
/// Packets at the network port of a device that sends by PIO, as frames for the peer at the other
/// end of its wire. A part of Egress, whose EgressPort says when each goes.
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <string>

#include "network/nic_port.h"
#include "pio/egress_port.h"
#include "pio/send_engine.h"
#include "stats/wait_book.h"

namespace flitwise {

class FrameSender {
 public:
  /// The receive engine at the other end.
  struct Peer {
    std::string place;         ///< its name
    std::uint64_t buffer = 0;  ///< bytes of its receive buffer, of each lane
  };
  /// The pool outlives it.
  FrameSender(NicPort& port, FramePool& frames, Peer peer)
      : port_(port), frames_(frames), peer_(std::move(peer)) {}

  /// A packet that has been read out of send memory waits at the port, the last one of its lane.
  void add(const LaunchedPacket& packet, const Pbc& pbc, const SendEngine& rules);
  /// The last one of its lane has not been read out after all.
  void drop_last(unsigned queue) { lanes_[queue].frames.pop_back(); }
  /// The first one of its lane starts on the wire.
  void start(const EgressPort::Start& packet);

  const Peer& peer() const { return peer_; }
  void start_window(Time now) { waits_.start_window(now); }
  /// For room at the peer.
  WaitResult waits() const {
    return waits_.result({peer_.place, "receive_buffer", ResourceRole::kSlots, "down", "write",
                          "device.pio.receive.buffer", peer_.buffer});
  }

 private:
  NicPort& port_;
  FramePool& frames_;
  const Peer peer_;
  struct Lane {
    boost::circular_buffer<FrameRef> frames = boost::circular_buffer<FrameRef>(64);  // grows
  };
  std::array<Lane, kVlQueues> lanes_;
  WaitBook waits_;
};

}  // namespace flitwise
