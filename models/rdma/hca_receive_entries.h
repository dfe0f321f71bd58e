// SPDX-License-Identifier: Apache-2.0
/// Receive queue entry handler of an RDMA adapter: where payload goes. [VB-6]
/// In: pieces of payload from receive; those of a SEND, and of a write with immediate, take the
/// buffer of an entry that descriptor fetch has read. Out: all of them, in order, to DMA
/// validation. Queue: `fifo` pieces; one packet may bring up to four. Latency: `entry` of a piece
/// that takes an entry, none of others; interval: none. DMA validation blocks it where it is full.
#pragma once

#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaReceiveEntries final : public HcaStage<HcaReceived>, public HcaPlaces {
 public:
  explicit HcaReceiveEntries(const HcaParts& parts)
      : HcaStage("receive_entry", "device.rdma.timing.entry", parts.config.rdma.fifo, Time{},
                 Time{}),
        s_(parts) {}

  bool has_room() const override { return !queue_.is_full(); }
  void place(HcaReceived piece, bool takes_entry, Time now) override {
    push(std::move(piece), now, 1, takes_entry ? s_.config.rdma.timing.entry : Time{});
  }
  bool holds(std::uint32_t place) const override {
    return queue_.has(
        [&](const HcaReceived& piece) { return s_.config.place_of(piece.pair) == place; });
  }
  bool run(Time now) override {
    bool has_moved = false;
    for (; queue_.is_due(now) && s_.validation.has_room(); has_moved = true) {
      s_.validation.place(queue_.take(now), false, now);
    }
    return has_moved;
  }

 private:
  const HcaParts& s_;
};

}  // namespace flitwise
