// SPDX-License-Identifier: Apache-2.0
#include "workload/flow_stream.h"

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

class ListedFlows final : public FlowSource {
 public:
  explicit ListedFlows(std::vector<Flow> flows) : flows_(std::move(flows)) {}

  bool next(Flow& flow) override {
    if (given_ == flows_.size()) {
      return false;
    }
    flow = flows_[given_++];
    return true;
  }
  std::uint64_t left() const override { return flows_.size() - given_; }

 private:
  const std::vector<Flow> flows_;
  std::size_t given_ = 0;
};

}  // namespace

void FlowPosts::give(std::size_t peer, WorkItem& item) {
  Under& first = to_[peer].front();
  item = WorkItem{};
  item.at = first.flow.start;
  item.domain = DomainId{static_cast<std::uint32_t>(peer)};
  item.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(piece_, first.left));
  first.left -= item.bytes;
  if (first.left == 0) {
    to_[peer].pop_front();
  }
  turn_ = (peer + 1) % to_.size();
}

Time FlowPosts::next_start(Time now) const {
  Time next = Time::never();
  for (const std::deque<Under>& flows : to_) {
    if (!flows.empty() && flows.front().flow.start > now) {
      next = std::min(next, flows.front().flow.start);
    }
  }
  return next;
}

std::uint64_t pieces_of(const Flow& flow, Bytes piece) {
  return (flow.bytes + piece - 1) / piece;
}

std::unique_ptr<FlowSource> listed_flows(std::vector<Flow> flows) {
  return std::make_unique<ListedFlows>(std::move(flows));
}

}  // namespace flitwise
