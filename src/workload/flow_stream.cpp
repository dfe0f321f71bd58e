// SPDX-License-Identifier: Apache-2.0
#include "workload/flow_stream.h"

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

class FlowStream final : public Workload {
 public:
  FlowStream(std::vector<Flow> flows, Bytes piece) : flows_(std::move(flows)), piece_(piece) {
    for (const Flow& flow : flows_) {
      left_ += pieces_of(flow, piece_);
    }
  }

  bool next(WorkItem& item) override {
    if (flow_ == flows_.size()) {
      return false;
    }
    const Flow& flow = flows_[flow_];
    item = WorkItem{};
    item.at = flow.start;
    item.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(piece_, flow.bytes - given_));
    given_ += item.bytes;
    --left_;
    if (given_ == flow.bytes) {
      given_ = 0;
      ++flow_;
    }
    return true;
  }
  std::uint64_t left() const override { return left_; }

 private:
  const std::vector<Flow> flows_;
  const Bytes piece_;
  std::size_t flow_ = 0;     // the one that is given out
  std::uint64_t given_ = 0;  // bytes of it
  std::uint64_t left_ = 0;
};

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

std::unique_ptr<Workload> flow_stream(std::vector<Flow> flows, Bytes piece) {
  return std::make_unique<FlowStream>(std::move(flows), piece);
}

std::uint64_t pieces_of(const Flow& flow, Bytes piece) {
  return (flow.bytes + piece - 1) / piece;
}

std::unique_ptr<FlowSource> listed_flows(std::vector<Flow> flows) {
  return std::make_unique<ListedFlows>(std::move(flows));
}

}  // namespace flitwise
