// SPDX-License-Identifier: Apache-2.0
// What software that posts work requests tells of itself.
#include <fmt/format.h>

#include <algorithm>

#include "common/ranges.h"
#include "flitwise/link_socket.h"
#include "rdma/verbs_driver.h"

namespace flitwise {

void VerbsDriver::add_progress(Progress& sum) const {
  sum.completed += completed_ + received_;
  sum.requests += total_;
  sum.requests_over += completed_ + not_posted_;
}

std::string VerbsDriver::waiting() const {
  std::string text;
  if (posted_ != completed_) {
    const auto waits = std::find_if(pairs_.begin(), pairs_.end(),
                                    [](const Pair& pair) { return pair.posted != pair.completed; });
    text = fmt::format(
        "{}: {} work requests without a completion, the oldest of queue pair {} is number {}\n",
        name(), posted_ - completed_, waits - pairs_.begin() + kFirstQueuePair, waits->completed);
  }
  if (is_down_ && !has_given_out()) {
    text += fmt::format("{}: its function was reset, and is not set up again\n", name());
  }
  if (waits_for_place_) {
    text +=
        fmt::format("{}: a place waits for what was written to the memory of the peer\n", name());
  }
  return text;
}

void VerbsDriver::start_window() {
  const Time now = flitwise::now();
  before_ = totals_;
  latency_ = LatencyHistogram();
  counts_ = true;
  window_begin_ = now;
  thread_.start_window(now);
  queue_waits_.start_window(now);
  completions_waits_.start_window(now);
}

void VerbsDriver::end_window() {
  window_end_ = flitwise::now();
  thread_.end_window(window_end_);
}

void VerbsDriver::extend_window() {
  window_end_ = Time::never();
  thread_.extend_window();
}

std::vector<WaitResult> VerbsDriver::waits() const {
  if (!config_.posts) {
    return {};
  }
  const RdmaConfig& rdma = config_.hca.rdma;
  const bool is_memory = places_ < rdma.queue;
  const Time now = flitwise::now();
  WaitResult thread{
      {name(), "thread", ResourceRole::kServer, "down", "write", "host.verbs.timing.post", 1}};
  thread.busy = thread_.mean(now);
  thread.span = std::min(window_end_, now) - window_begin_;
  return {thread,
          queue_waits_.result({name(), "send_queue", ResourceRole::kSlots, "down", "write",
                               is_memory ? "workload.buffer_size" : "device.rdma.queue", places_}),
          completions_waits_.result({name(), "completion_queue", ResourceRole::kSlots, "down",
                                     "write", "device.rdma.cq", rdma.cq})};
}

void VerbsDriver::report(RunResult& result) const {
  VerbsResult row = totals_;
  row -= before_;
  row.device = device_;
  const LatencyResult latency = latency_.summary("");
  row.latency_mean = latency.mean;
  row.latency_p50 = latency.p50;
  row.latency_p99 = latency.p99;
  row.latency_max = latency.max;
  const Time span = last_done_ - std::max(window_begin_, origin_);
  row.goodput_gbps =
      row.operations > 0 && span > Time{} ? static_cast<double>(row.bytes) * 8 / span.ns() : 0;
  result.rows<VerbsResult>().push_back(std::move(row));
}

std::vector<CheckResult> VerbsDriver::checks() const {
  const std::string own = device_ + ": ";
  std::vector<CheckResult> all = {
      {own + "each work request completed once, in order", disordered_ == 0,
       fmt::format("{} completions were of another request", disordered_)}};
  if (!config_.is_attacked) {
    all.push_back({own + "work requests brought the bytes that they should", corrupted_ == 0,
                   fmt::format("{} did not", corrupted_)});
  }
  return all;
}

std::vector<CheckResult> VerbsDriver::checks_at_rest() const {
  const std::string own = device_ + ": ";
  std::vector<CheckResult> all = {{own + "all work requests are complete", posted_ == completed_,
                                   fmt::format("{} posted, {} complete", posted_, completed_)}};
  if (config_.is_attacked) {
    return all;
  }
  std::uint64_t wrong = 0, sends_there = 0;
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    for (std::uint32_t place = 0; config_.posts && place < places_; ++place) {
      const Request& request = requests_[std::uint64_t{pair} * places_ + place];
      wrong += request.is_unseen && !is_at_peer(pair, place, request) ? 1 : 0;
    }
  }
  all.push_back({own + "what was written last to each place is in the memory of the peer",
                 wrong == 0, fmt::format("{} places have other bytes", wrong)});
  const bool has_errors =
      !errors().empty() || epoch_ > 0 || any_of(peers_, [](const VerbsDriver* peer) {
        return !peer->errors().empty() || peer->epoch_ > 0;
      });
  if (!peers_.empty() && !has_errors) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      sends_there += config_.hca.peers[i].sends
                         ? sum_of<std::uint64_t>(peers_[i]->pairs_, &Pair::sends_completed)
                         : 0;
    }
    all.push_back({own + "messages that the peer sent were taken", sends_there == received_,
                   fmt::format("{} sent, {} taken", sends_there, received_)});
  }
  return all;
}

}  // namespace flitwise
