// SPDX-License-Identifier: Apache-2.0
/// Completion stage of an RDMA adapter: what software is told, and what queue pairs wait for.
/// [VB-6, VB-9, LR-3]
/// In: queue pairs whose rules have been told or asked something. Out: entries of completion queues
/// by DMA, behind the payload that they tell of, and interrupts behind them; kicks when a time to
/// wait is over. Queue: `fifo` entries; what finds no room stays in the queue of `cq` entries that
/// the rules fill, and while anything stays there nothing is received. Latency: `complete`;
/// interval: a clock. Nobody blocks it.
#pragma once

#include <deque>
#include <vector>

#include "rdma/completion_events.h"
#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"
#include "stats/waits_of_each.h"

namespace flitwise {

class HcaCompletion final : public HcaStage<HcaTold>, public HcaOutcomes {
 public:
  explicit HcaCompletion(const HcaParts& parts)
      : HcaStage("completion", "device.rdma.timing.complete", parts.config.rdma.fifo,
                 parts.config.rdma.timing.complete, parts.config.rdma.timing.clock),
        s_(parts),
        completions_(kCompletionQueues * parts.config.function_count()),
        events_(kCompletionQueues * parts.config.function_count()),
        reads_(parts.config.pairs),
        window_(parts.config.pairs) {}

  void after_rules(std::uint32_t pair, Time now) override;
  bool arm(std::uint32_t place, const CompletionArm& order, Time now) override;
  bool has_room() const override { return full_.empty(); }
  /// The function at that place is reset: its completion queues begin anew. [HP-4]
  void reset(std::uint32_t place);

  bool run(Time now) override;
  void settle(Time now) override;
  bool holds(std::uint32_t place) const override {
    return queue_.has([&](const HcaTold& told) {
      return s_.config.place_of(told.completion.queue_pair - kFirstQueuePair) == place;
    });
  }
  void start_window(Time now) override;
  void add_more_waits(const std::string& place, Time now,
                      std::vector<WaitResult>& all) const override;
  /// When the first of them runs out; never where none runs.
  Time next_timer() const { return timers_.next(); }

 private:
  void collect(std::uint32_t place, Time now);
  bool run_timer(Time now);
  bool complete(Time now);
  void interrupt(std::uint32_t queue, Time now);

  const HcaParts& s_;
  DueQueue<HcaTimer> timers_;
  // By completion queue, those of the first function first.
  std::vector<std::uint64_t> completions_;  // so far
  CompletionEvents events_;
  std::deque<std::uint32_t> full_;  // places of functions with completions that wait for room
  WaitsOfEach reads_, window_;      // of requesters, by queue pair
};

}  // namespace flitwise
