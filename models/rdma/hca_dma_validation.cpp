// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_dma_validation.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "rdma/hca_dma.h"

namespace flitwise {

void HcaDmaValidation::place(HcaReceived piece, bool /*takes_entry*/, Time now) {
  const std::uint32_t beats = std::max(1U, (piece.target.bytes + 63) / 64);
  push(std::move(piece), now, beats);
}

bool HcaDmaValidation::run(Time now) {
  if (!queue_.is_due(now)) {
    return false;
  }
  while (queue_.is_due(now)) {
    HcaReceived received = queue_.take(now);
    HcaJob& write = s_.dma.make(*this, HcaJobKind::kReceived, false);
    write.queue_pair = received.pair;
    write.address = received.target.address;
    write.bytes = received.target.bytes;
    write.from = received.from;
    if (received.from == nullptr) {
      write.own.resize(sizeof(received.value));
      boost::endian::store_little_u64(write.own.data(), received.value);
    }
    write.tag = received.number;
    write.frame = std::move(received.frame);
    write.is_last = received.is_last;
    s_.dma.start(write, now);
  }
  return true;
}

void HcaDmaValidation::done(HcaJob& job, Time /*now*/) {
  s_.dma.payload_done(job.tag);
  if (job.is_ok) {
    s_.totals.placed_bytes += job.bytes;
    s_.control.placed(job.queue_pair, job.bytes);
  }
  if (job.is_last) {
    s_.frames.give_room(*job.frame);
  }
  job.frame.reset();
}

}  // namespace flitwise
