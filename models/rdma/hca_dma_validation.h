// SPDX-License-Identifier: Apache-2.0
/// DMA validation of an RDMA adapter: payload on its way to host memory. [HP-7]
/// In: pieces of payload. Out: writes of host memory; frames whose last piece is there give their
/// room in the payload RAM back. Keys have been held against the pieces by the rules, with the
/// packet; here is the time that takes. Queue: `fifo` pieces. Latency: `validate`; interval: a
/// clock for each 64 bytes. Nobody blocks it.
#pragma once

#include "rdma/hca_seams.h"
#include "rdma/hca_stage.h"

namespace flitwise {

class HcaDmaValidation final : public HcaStage<HcaReceived>, public HcaPlaces {
 public:
  explicit HcaDmaValidation(const HcaParts& parts)
      : HcaStage("dma_validation", "device.rdma.timing.validate", parts.config.rdma.fifo,
                 parts.config.rdma.timing.validate, parts.config.rdma.timing.clock),
        s_(parts) {}

  bool has_room() const override { return !queue_.is_full(); }
  void place(HcaReceived piece, bool takes_entry, Time now) override;
  bool holds(std::uint32_t place) const override {
    return queue_.has(
        [&](const HcaReceived& piece) { return s_.config.place_of(piece.pair) == place; });
  }
  bool run(Time now) override;
  void done(HcaJob& job, Time now) override;

 private:
  const HcaParts& s_;
};

}  // namespace flitwise
