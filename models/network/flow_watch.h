// SPDX-License-Identifier: Apache-2.0
/// How long flows between adapters take: from when they may start to where the last of their bytes
/// is in the memory of the receiver. It watches; adapters and their software do the work, and are
/// told of flows.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "network/flow_book.h"
#include "network/network_graph.h"

namespace flitwise {

class FlowWatch final : public Bystander {
 public:
  struct Hooks {
    std::function<Time(const Flow& flow)> ideal;  ///< with the network for itself
    std::function<Time(NodeId host)> begin;  ///< when software of the host begins; never: later
    /// Software of its source posts it, from its start on, which counts from begin().
    std::function<void(const Flow& flow)> post;
  };
  FlowWatch(const std::vector<Flow>& flows, Hooks hooks);

  /// So many bytes more that one host has sent are in the memory of the other one.
  void placed(NodeId from, NodeId to, std::uint64_t bytes, Time now);

  void report(RunResult& result) const override;
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  struct Under {
    Flow flow;
    std::uint64_t left = 0;  // bytes
  };
  void post(const Flow& flow);
  void start_waiting(NodeId host);

  const Hooks hooks_;
  FlowBook book_;
  std::map<std::pair<NodeId, NodeId>, std::deque<Under>> under_way_;
  std::uint64_t beyond_ = 0;  // bytes of no flow
};

}  // namespace flitwise
