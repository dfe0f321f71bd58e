// SPDX-License-Identifier: Apache-2.0
/// Completion stage of an RDMA adapter: what software is told, and what queue pairs wait for.
/// [VB-6, VB-9, LR-3]
/// In: queue pairs whose rules have been told or asked something. Out: entries of completion queues
/// by DMA, behind the payload that they tell of; kicks when a time to wait is over. Queue: `fifo`
/// entries; what finds no room stays in the queue of `cq` entries that the rules fill, and while
/// anything stays there nothing is received. Latency: `complete`; interval: a clock. Nobody blocks
/// it.
#pragma once

#include <array>

#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaCompletion final : public HcaStage<HcaTold>, public HcaOutcomes {
 public:
  explicit HcaCompletion(const HcaParts& parts)
      : HcaStage("completion", "device.rdma.timing.complete", parts.config.rdma.fifo,
                 parts.config.rdma.timing.complete, parts.config.rdma.timing.clock),
        s_(parts) {}

  void after_rules(std::uint32_t pair, Time now) override;
  bool has_room() const override {
    return s_.pairs.sends().size() + s_.pairs.receives().size() == 0;
  }

  bool run(Time now) override;
  void settle(Time now) override;

 private:
  void collect(Time now);
  bool run_timer(Time now);
  bool complete(Time now);

  const HcaParts& s_;
  DueQueue<HcaTimer> timers_;
  std::array<std::uint64_t, 2> completions_{};  // so far, of sends and of receives
};

}  // namespace flitwise
