// SPDX-License-Identifier: Apache-2.0
#include "network/flow_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "workload/flow_stream.h"

namespace flitwise {

FlowWatch::FlowWatch(const std::vector<Flow>& flows, Hooks hooks)
    : Bystander("flows"), hooks_(std::move(hooks)), book_(listed_flows(flows)) {
  while (book_.next_start() != Time::never()) {
    post(book_.start(book_.next_start()));
  }
}

void FlowWatch::post(const Flow& flow) {
  under_way_[{flow.source, flow.destination}].push_back({flow, flow.bytes});
  hooks_.post(flow);
}

// Those that waited for a flow of that host. model: their software knows at once.
void FlowWatch::start_waiting(NodeId host) {
  while (book_.next_start() != Time::never()) {
    Flow flow = book_.start(book_.next_start());
    const Time begin = hooks_.begin(flow.source);
    flow.start =
        begin == Time::never() ? Time{} : std::max(hooks_.begin(host) + flow.start - begin, Time{});
    post(flow);
  }
}

// Bytes of two hosts are those of their flows, one flow behind the other.
void FlowWatch::placed(NodeId from, NodeId to, std::uint64_t bytes, Time now) {
  std::deque<Under>& flows = under_way_[{from, to}];
  while (bytes > 0 && !flows.empty()) {
    Under& first = flows.front();
    const std::uint64_t part = std::min(bytes, first.left);
    first.left -= part;
    bytes -= part;
    if (first.left == 0) {
      book_.over(first.flow, now - hooks_.begin(from) - first.flow.start, hooks_.ideal(first.flow));
      flows.pop_front();
      start_waiting(from);
    }
  }
  beyond_ += bytes;
}

void FlowWatch::report(RunResult& result) const {
  result.rows<NetworkFlowResult>() = book_.flows();
  result.rows<FlowTimesRow>() = book_.times();
}

std::vector<CheckResult> FlowWatch::checks_at_rest() const {
  return {{"flows that have started are over", book_.is_done() && beyond_ == 0,
           fmt::format("{} of {}, {} bytes of none", book_.finished(), book_.total(), beyond_)}};
}

}  // namespace flitwise
