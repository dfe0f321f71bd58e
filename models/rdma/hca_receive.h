// SPDX-License-Identifier: Apache-2.0
/// Receive stage of an RDMA adapter: what the rules say of a packet. [RX-1, HP-5]
/// In: packets with the state of their queue pair. Out: payload to the receive queue entry handler,
/// what the rules have said to completion, answers to the packet builder. Queue: `fifo` entries.
/// Latency: `receive`; interval: a clock. Payload of packets ahead of others waits in a reorder
/// buffer, where each queue pair has room for the packets that its rules keep [RO-C10]; it goes on
/// in order. What blocks it: an atomic that is carried out, one at a
/// time; an entry of a receive queue that software has posted and the adapter has not read yet; no
/// room in the handler; completions that wait for room.
#pragma once

#include <optional>
#include <vector>

#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"
#include "stats/wait_book.h"

namespace flitwise {

class HcaReceive final : public HcaStage<HcaArrived>, public HcaReceives {
 public:
  explicit HcaReceive(const HcaParts& parts)
      : HcaStage("receive", "device.rdma.timing.receive", parts.config.rdma.fifo,
                 parts.config.rdma.timing.receive, parts.config.rdma.timing.clock),
        s_(parts),
        buffers_(parts.config.sessions ? parts.config.pairs : 0) {}

  bool has_room() const override { return !queue_.is_full(); }
  void receive(HcaArrived packet, Time now) override { push(std::move(packet), now); }
  bool is_in_atomic(std::uint32_t pair) const override { return atomic_ && atomic_->pair == pair; }
  void drop_held(std::uint32_t pair) override;
  std::size_t held() const { return held_frames_; }     ///< frames in the reorder buffer
  std::size_t peak_held() const { return peak_held_; }  ///< of one queue pair

  bool run(Time now) override;
  void done(HcaJob& job, Time now) override;
  bool is_quiet() const override { return HcaStage::is_quiet() && !atomic_ && !releasing_; }
  std::string waiting() const override;
  void start_window(Time now) override;
  void end_window(Time when) override;
  void add_more_waits(const std::string& place, Time now,
                      std::vector<WaitResult>& all) const override;

 private:
  /// A packet ahead of others.
  struct Held {
    FrameRef frame;  ///< null: its payload is in memory
    std::uint32_t payload = 0;
    bool takes_buffer = false;
  };
  struct ReorderBuffer {
    std::vector<Held> places;  // by PSN, a power of two of them
    std::size_t frames = 0;
    Held& at(Psn psn) { return places[psn & (places.size() - 1)]; }
  };

  bool take(Time now);
  bool waits_for_buffer(std::uint32_t pair, bool takes_buffer, Time now);
  void hold(HcaArrived& arrived, bool is_placed);
  void let_go(std::uint32_t pair, Held& held);
  void begin_release(std::uint32_t pair);
  bool release(Time now);
  void place(HcaArrived& arrived, const RdmaEffect& effect, Time now);
  void begin_atomic(HcaArrived& arrived, const RdmaEffect& effect, Time now);
  void finish_atomic(const HcaJob& job, Time now);

  const HcaParts& s_;
  std::optional<HcaArrived> atomic_;        // that is carried out
  std::vector<ReorderBuffer> buffers_;      // by queue pair; none: packets come in order
  std::optional<std::uint32_t> releasing_;  // queue pair whose packets may be in order now
  std::size_t held_frames_ = 0, peak_held_ = 0;
  UseClock atomic_use_;
  Time window_begin_{}, window_end_ = Time::never();
};

}  // namespace flitwise
