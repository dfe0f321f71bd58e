// SPDX-License-Identifier: Apache-2.0
#include "network/flow_book.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {
namespace {

constexpr std::size_t kFlowsShown = 8;

// Of many flows those that took longest.
TextTable flow_view(const std::vector<NetworkFlowResult>& rows, const RunResult& /*result*/) {
  std::vector<const NetworkFlowResult*> shown;
  for (const NetworkFlowResult& row : rows) {
    shown.push_back(&row);
  }
  const std::size_t count = std::min(kFlowsShown, shown.size());
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto* a, const auto* b) { return a->taken > b->taken; });
  TextTable table({"flow", "from", "to", "bytes", "start", "took", "alone", "times as long"}, 3);
  for (std::size_t i = 0; i < count; ++i) {
    const NetworkFlowResult& row = *shown[i];
    table.add(fmt::format("{}", row.id), row.source, row.destination,
              bytes_text(static_cast<double>(row.bytes)), row.start, row.taken, row.ideal,
              fmt::format("{:.2f}", row.taken.ns() / row.ideal.ns()));
  }
  if (count < shown.size()) {
    table.add_note(fmt::format("Of {} flows, those that took longest.\n", shown.size()));
  }
  return table;
}

TextTable time_view(const std::vector<FlowTimesRow>& rows, const RunResult& /*result*/) {
  TextTable table(
      {"flows of", "flows", "mean", "median", "99 %", "longest", "mean/alone", "99 %/alone"});
  for (const FlowTimesRow& row : rows) {
    table.add(row.name, row.flows, time_text(row.mean_ns), time_text(row.p50_ns),
              time_text(row.p99_ns), time_text(row.max_ns),
              fmt::format("{:.2f}", row.mean_slowdown), fmt::format("{:.2f}", row.p99_slowdown));
  }
  return table;
}

}  // namespace

const StatisticsTable& network_flow_table() {
  using Row = NetworkFlowResult;
  static const Table<Row> kTable =
      Table<Row>("network.flows", "network_flow",
                 "One row per flow between hosts or adapters that is over, the first 4,096.")
          .name("name", [](const Row& row) { return fmt::format("{}", row.id); })
          .count("id", &Row::id, "In the order in which flows were made, from 0.")
          .text("source", &Row::source, "Host that sends.")
          .text("destination", &Row::destination, "Host that receives.")
          .count("bytes", &Row::bytes, "Of the flow.", "byte")
          .time("start_ns", &Row::start, "When it started.")
          .time("fct_ns", &Row::taken, "From its start to its last byte at the receiver, in order.")
          .time("ideal_ns", &Row::ideal, "The same with the network for itself.")
          .flat(FlatRows::kNone, "flow")
          .show(flow_view);
  return kTable;
}

const StatisticsTable& flow_time_table() {
  using Row = FlowTimesRow;
  static const Table<Row> kTable =
      Table<Row>("network.times", "flow_time",
                 "One row per range of sizes of flows, and one of all: how long they took.")
          .name("name", &Row::name)
          .count("flows", &Row::flows, "Flows of these sizes that are over.")
          .real("mean_ns", &Row::mean_ns, "ns", "Mean time of completion.")
          .real("p50_ns", &Row::p50_ns, "ns", "Its median.")
          .real("p99_ns", &Row::p99_ns, "ns", "Its 99th percentile.")
          .real("max_ns", &Row::max_ns, "ns", "The longest.")
          .real("mean_slowdown", &Row::mean_slowdown, "",
                "Mean of the time over that with the network for itself.")
          .real("p50_slowdown", &Row::p50_slowdown, "", "Median of that ratio.")
          .real("p99_slowdown", &Row::p99_slowdown, "", "99th percentile of that ratio.")
          .real("max_slowdown", &Row::max_slowdown, "", "The largest ratio.")
          .flat(FlatRows::kNamed, "fct")
          .show(time_view);
  return kTable;
}

FlowBook::FlowBook(std::unique_ptr<FlowSource> source)
    : source_(std::move(source)), total_(source_->left()) {
  read();
}

// Flows that wait for others are kept until those are over; the next one that starts by itself is
// read ahead.
void FlowBook::read() {
  Flow flow;
  while (!next_ && source_->next(flow)) {
    if (flow.after == kNoFlow) {
      next_ = flow;
    } else if (flow.after < is_over_.size() && is_over_[flow.after]) {
      ready_.emplace(flow.start, flow);
    } else {
      waiting_.emplace(flow.after, flow);
    }
  }
}

Time FlowBook::next_start() const {
  const Time ready = ready_.empty() ? Time::never() : ready_.begin()->first;
  return std::min(ready, next_ ? next_->start : Time::never());
}

Flow FlowBook::start(Time now) {
  ++started_;
  Flow flow;
  if (!ready_.empty() && (!next_ || ready_.begin()->first < next_->start)) {
    flow = ready_.begin()->second;
    ready_.erase(ready_.begin());
  } else {
    flow = *next_;
    next_.reset();
    read();
  }
  flow.start = now;
  return flow;
}

void FlowBook::split(const Flow& flow, unsigned parts) {
  if (parts > 1) {
    split_[flow.id] = {flow, parts};
  }
}

bool FlowBook::is_whole(Flow& part) {
  const auto split = split_.find(part.id);
  if (split == split_.end()) {
    return true;
  }
  if (--split->second.left > 0) {
    return false;
  }
  part = split->second.whole;
  split_.erase(split);
  return true;
}

void FlowBook::over(const Flow& flow, Time taken, Time ideal) {
  ++over_;
  times_.record(flow.bytes, taken, ideal);
  if (results_.size() < kMostRows) {
    results_.push_back({flow.id, fmt::format("h{}", flow.source),
                        fmt::format("h{}", flow.destination), flow.bytes, flow.start, taken,
                        ideal});
  }
  if (is_over_.size() <= flow.id) {
    is_over_.resize(flow.id + std::size_t{1});
  }
  is_over_[flow.id] = true;
  const auto [first, last] = waiting_.equal_range(flow.id);
  for (auto one = first; one != last; ++one) {
    ready_.emplace(flow.start + taken + one->second.start, one->second);
  }
  waiting_.erase(first, last);
}

}  // namespace flitwise
