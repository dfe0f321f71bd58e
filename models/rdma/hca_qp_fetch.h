// SPDX-License-Identifier: Apache-2.0
/// Queue pair fetch of an RDMA adapter: work waits for the state of its queue pair. [HP-2, HP-3]
/// In: kicks, and frames that have been checked. Out: kicks to descriptor fetch, frames to receive,
/// those of one queue pair in their order. Queue: `fifo` entries, and as many that have asked for
/// their state. Latency: `fetch` where the state is there, else the read of it; interval: a clock.
/// A full receive stage blocks it, and a cache all of whose entries are pinned. Where kicks and
/// frames wait for its last place, they have it by turns. Without a state that cannot be read kicks
/// come to nothing, and frames are dropped.
#pragma once

#include <boost/circular_buffer.hpp>

#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaQpFetch final : public HcaStage<HcaArrived>, public HcaFetches {
 public:
  explicit HcaQpFetch(const HcaParts& parts)
      : HcaStage("qp_fetch", "device.rdma.timing.fetch", parts.config.rdma.fifo,
                 parts.config.rdma.timing.fetch, parts.config.rdma.timing.clock),
        s_(parts) {}

  bool has_room_for_kick(Time now) const override {
    return free_places() > (last_is_kick_ && s_.frames.has_frame(now) ? 1U : 0U);
  }
  bool has_room_for_frame(Time now) const override {
    return free_places() > (!last_is_kick_ && s_.kicks.has_kick(now) ? 1U : 0U);
  }
  void fetch(HcaArrived work, Time now) override {
    last_is_kick_ = !work.frame;
    push(std::move(work), now);
  }
  void state_came(std::uint32_t pair) override;
  void state_failed(std::uint32_t pair, Time now) override;

  bool run(Time now) override;
  void settle(Time now) override;
  bool is_quiet() const override {
    return HcaStage::is_quiet() && fetched_.empty() && unfetched_.empty();
  }
  std::string waiting() const override;
  void start_window(Time now) override;
  void add_more_waits(const std::string& place, Time now,
                      std::vector<WaitResult>& all) const override;

 private:
  std::size_t free_places() const { return queue_.depth() - queue_.size(); }
  bool dispatch(Time now);
  bool ask(Time now);

  const HcaParts& s_;
  using Queue = boost::circular_buffer<HcaArrived>;  // grows
  Queue fetched_{4}, unfetched_{4};                  // with their state, and without
  bool last_is_kick_ = true;                         // that took a place
  OpenWait pinned_wait_;
  WaitBook pinned_waits_;
};

}  // namespace flitwise
