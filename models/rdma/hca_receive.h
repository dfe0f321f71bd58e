// SPDX-License-Identifier: Apache-2.0
/// Receive stage of an RDMA adapter: what the rules say of a packet. [RX-1, HP-5]
/// In: packets with the state of their queue pair. Out: payload to the receive queue entry handler,
/// what the rules have said to completion, answers to the packet builder. Queue: `fifo` entries.
/// Latency: `receive`; interval: a clock. What blocks it: an atomic that is carried out, one at a
/// time; an entry of a receive queue that software has posted and the adapter has not read yet; no
/// room in the handler; completions that wait for room.
#pragma once

#include <optional>

#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"
#include "stats/wait_book.h"

namespace flitwise {

class HcaReceive final : public HcaStage<HcaArrived>, public HcaReceives {
 public:
  explicit HcaReceive(const HcaParts& parts)
      : HcaStage("receive", "device.rdma.timing.receive", parts.config.rdma.fifo,
                 parts.config.rdma.timing.receive, parts.config.rdma.timing.clock),
        s_(parts) {}

  bool has_room() const override { return !queue_.is_full(); }
  void receive(HcaArrived packet, Time now) override { push(std::move(packet), now); }
  bool is_in_atomic(std::uint32_t pair) const override { return atomic_ && atomic_->pair == pair; }

  bool run(Time now) override;
  void done(HcaJob& job, Time now) override;
  bool is_quiet() const override { return HcaStage::is_quiet() && !atomic_; }
  std::string waiting() const override;
  void start_window(Time now) override;
  void end_window(Time when) override;
  void add_more_waits(const std::string& place, Time now,
                      std::vector<WaitResult>& all) const override;

 private:
  bool take(Time now);
  void place(HcaArrived& arrived, const RdmaEffect& effect, Time now);
  void begin_atomic(HcaArrived& arrived, const RdmaEffect& effect, Time now);
  void finish_atomic(const HcaJob& job, Time now);

  const HcaParts& s_;
  std::optional<HcaArrived> atomic_;  // that is carried out
  UseClock atomic_use_;
  Time window_begin_{}, window_end_ = Time::never();
};

}  // namespace flitwise
