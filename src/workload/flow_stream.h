// SPDX-License-Identifier: Apache-2.0
/// Flows as work that software of their host posts, and flows one by one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "workload/flow.h"
#include "workload/workload.h"

namespace flitwise {

/// WRITEs of up to a piece: those to one peer one behind the other, flow by flow; peers in turn, as
/// each of them has a queue pair of its own.
class FlowPosts {
 public:
  FlowPosts(std::size_t peers, Bytes piece) : to_(peers), piece_(piece) {}

  /// A flow more, which may start at its start. REQUIRES: of a peer in the order of their starts.
  void add(std::uint32_t peer, const Flow& flow) { to_[peer].push_back({flow, flow.bytes}); }
  /// The next piece at that time, of the first peer in turn that has one; its domain is the peer.
  /// bool may(peer): is there room for it? False: there is none.
  template <class May>
  bool take(Time now, May may, WorkItem& item) {
    for (std::size_t tried = 0; tried < to_.size(); ++tried) {
      const std::size_t peer = (turn_ + tried) % to_.size();
      if (!to_[peer].empty() && to_[peer].front().flow.start <= now &&
          may(static_cast<std::uint32_t>(peer))) {
        give(peer, item);
        return true;
      }
    }
    return false;
  }
  /// When a flow starts that does not block another one and has not started; never: none.
  Time next_start(Time now) const;

 private:
  struct Under {
    Flow flow;
    std::uint64_t left = 0;  // bytes
  };
  void give(std::size_t peer, WorkItem& item);

  std::vector<std::deque<Under>> to_;  // by peer
  const Bytes piece_;
  std::size_t turn_ = 0;
};

/// How many pieces that are.
std::uint64_t pieces_of(const Flow& flow, Bytes piece);

/// These, in their order.
std::unique_ptr<FlowSource> listed_flows(std::vector<Flow> flows);

}  // namespace flitwise
