// SPDX-License-Identifier: Apache-2.0
// The function shell: transfers that are over.
#include "endpoint/endpoint.h"

namespace flitwise {

void Endpoint::end_transfer(std::uint32_t slot, Time t) {
  Active& active = active_[slot];
  const Transfer& transfer = active.transfer;
  if (transfer.ends_context) {
    dhi_.end_context(transfer.domain);
    is_draining_ = is_draining_ || dhi_.is_draining();
    has_duties_ = has_duties_ || is_draining_;
    if (ats_ != nullptr) {
      end_context(transfer, t);
    }
  }
  const TransferEnd end{transfer.token, transfer.domain,       transfer.op,
                        active.status,  transfer.ends_context, t};
  if (tracks_contexts_) {
    --contexts_[to_int(transfer.domain)].transfers;
  }
  active.write.reset();
  Engine& engine = *active.engine;
  free_active_.push_back(slot);
  engine.finished(end);
}

// The engine hears of it, and can have its place for another one, when the pipeline has brought it
// there. [LNK-9.25]
void Endpoint::end_transfer_behind_pipeline(std::uint32_t slot, Time t) {
  const Time done = t + config_.device.timing.pipeline;
  last_completion_ = done;
  if (done == t) {
    end_transfer(slot, t);
    return;
  }
  ends_.add(slot, done);
  ends_wakeup_.at(ends_.next());
}

void Endpoint::end_transfers(Time t) {
  while (ends_.is_due(t)) {
    end_transfer(ends_.take(), t);
  }
}

}  // namespace flitwise
